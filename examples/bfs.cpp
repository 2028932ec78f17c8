// Breadth-first search, level by level: all vertices of one level read their neighbours at once. Several may find the same one, and an
// atomic word decides which of them gets it; that changes who found it, never how far away it is.
// For n vertices, m edges and l levels: work O(n + m), span O(l (log n + largest degree + workers)).

#include <nopal/algorithm.hpp>

#include <atomic>
#include <cstdio>
#include <queue>
#include <random>
#include <vector>

using vertex = unsigned;
using graph = std::vector<std::vector<vertex>>;  // the neighbours of each vertex
constexpr int unseen = -1;

std::vector<int> distances(graph const& g, vertex root) {
  std::vector<std::atomic<int>> level(g.size());
  nopal::parallel_for(std::size_t{0}, g.size(), [&](std::size_t v) { level[v] = unseen; });
  level[root] = 0;
  std::vector<vertex> frontier{root};
  for (int next = 1; !frontier.empty(); ++next) {
    nopal::combinable<std::vector<vertex>> found;  // by each worker
    nopal::for_each(frontier, [&](vertex v) {
      auto& mine = found.local();
      for (vertex const w : g[v]) {
        int expected = unseen;
        if (level[w].load() == unseen && level[w].compare_exchange_strong(expected, next)) mine.push_back(w);
      }
    });
    frontier.clear();
    found.combine_each([&](std::vector<vertex> const& some) { frontier.insert(frontier.end(), some.begin(), some.end()); });
  }
  return {level.begin(), level.end()};
}

std::vector<int> serial_distances(graph const& g, vertex root) {
  std::vector<int> level(g.size(), unseen);
  level[root] = 0;
  for (std::queue<vertex> open{{root}}; !open.empty(); open.pop()) {
    for (vertex const w : g[open.front()]) {
      if (level[w] != unseen) continue;
      level[w] = level[open.front()] + 1;
      open.push(w);
    }
  }
  return level;
}

int main() {
  graph g(60'000);
  std::minstd_rand draw{17};
  for (std::size_t edge = 0; edge < 2 * g.size(); ++edge) {
    auto const a = static_cast<vertex>(draw() % g.size()), b = static_cast<vertex>(draw() % g.size());
    g[a].push_back(b);
    g[b].push_back(a);
  }

  auto const level = distances(g, 0);
  int const farthest = *nopal::max_element(level);
  for (int l = 0; l <= farthest; ++l) std::printf("%2d steps away: %td vertices\n", l, nopal::count(level, l));
  std::printf("not reached: %td\n", nopal::count(level, unseen));
  return level == serial_distances(g, 0) ? 0 : 1;
}

#include "../../runtimes/nopal.hpp"
#include "bfs.hpp"

namespace {

void bfs(bench::bfs_problem& problem) {
  bench::bfs_level here{problem.n};
  bench::bfs_level beyond{problem.n};
  bench::bfs_level* now = &here;
  bench::bfs_level* next = &beyond;
  const bench::bfs_problem::node first = 0;
  problem.distance[first].store(0, std::memory_order_relaxed);
  now->append({&first, 1});

  for (std::uint32_t level = 1; !now->nodes().empty(); ++level) {
    nopal::counter left;
    for (auto rest = now->nodes(); !rest.empty(); ++problem.pieces) {
      const auto some = rest.first(std::min(problem.grain, rest.size()));
      rest = rest.subspan(some.size());
      nopal::spawn(left, [&problem, some, level, next] { expand(problem, some, level, *next); });
    }
    nopal::wait_for(left);
    now->clear();
    std::swap(now, next);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::bfs_problem, bench::nopal_runtime>(argc, argv, "fiber",
                                                              [](auto& on, auto& problem) { on.pool.run([&] { bfs(problem); }); });
}

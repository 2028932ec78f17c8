#include "bfs.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_SERIAL)
void bfs(bench::bfs_problem& problem) {
  const auto order = std::memory_order_relaxed;
  std::vector<bench::bfs_problem::node> queue(problem.n);
  std::size_t end = 0;
  problem.distance[0].store(0, order);
  queue[end++] = 0;
  for (std::size_t begin = 0; begin < end; ++begin) {
    const std::uint32_t level = problem.distance[queue[begin]].load(order) + 1;
    for (const auto to : problem.neighbours(queue[begin])) {
      if (problem.distance[to].load(order) != problem.far) continue;
      problem.distance[to].store(level, order);
      queue[end++] = to;
    }
  }
}
#else
void bfs(bench::bfs_problem& problem) {
  bench::bfs_level here{problem.n};
  bench::bfs_level beyond{problem.n};
  bench::bfs_level* now = &here;
  bench::bfs_level* next = &beyond;
  const bench::bfs_problem::node first = 0;
  problem.distance[first].store(0, std::memory_order_relaxed);
  now->append({&first, 1});

  for (std::uint32_t level = 1; !now->nodes().empty(); ++level) {
    bench::group left;
    for (auto rest = now->nodes(); !rest.empty(); ++problem.pieces) {
      const auto some = rest.first(std::min(problem.grain, rest.size()));
      rest = rest.subspan(some.size());
      left.fork([&problem, some, level, next] { expand(problem, some, level, *next); });
    }
    left.join();
    now->clear();
    std::swap(now, next);
  }
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::bfs_problem>(argc, argv, [](auto& on, auto& problem) { on.run([&] { bfs(problem); }); });
}

#include "../../runtimes/serial.hpp"
#include "bfs.hpp"

namespace {

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

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::bfs_problem, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) { bfs(problem); });
}

#include "../runtimes/tbb.hpp"

#include "latency.hpp"

namespace {

std::uint64_t sum(const bench::job& job, bench::leaf_range leaves) {
  if (leaves.empty()) return 0;
  if (leaves.single()) return job.leaf(leaves.first);
  std::uint64_t left = 0;
  tbb::task_group group;
  group.run([&] { left = sum(job, leaves.left()); });
  const std::uint64_t right = sum(job, leaves.right());
  group.wait();
  return left + right;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_latency<bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, const auto& job, auto leaves) { return on.arena.execute([&] { return sum(job, leaves); }); });
}

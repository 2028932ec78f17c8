#include "../runtimes/nopal.hpp"
#include "latency.hpp"

namespace {

nopal::task<std::uint64_t> sum(const bench::job& job, bench::leaf_range leaves) {
  if (leaves.empty()) co_return 0;
  if (leaves.single()) co_return job.leaf(leaves.first);
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  co_await nopal::fork(&left, sum, job, leaves.left());
  co_await nopal::call(&right, sum, job, leaves.right());
  co_await nopal::join;
  co_return left + right;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_latency<bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, const auto& job, auto leaves) { return on.pool.run(sum, job, leaves); });
}

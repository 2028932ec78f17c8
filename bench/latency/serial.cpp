#include "../runtimes/serial.hpp"
#include "latency.hpp"

namespace {

std::uint64_t sum(const bench::job& job, bench::leaf_range leaves) {
  if (leaves.empty()) return 0;
  if (leaves.single()) return job.leaf(leaves.first);
  const std::uint64_t left = sum(job, leaves.left());
  const std::uint64_t right = sum(job, leaves.right());
  return left + right;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_latency<bench::serial_runtime>(argc, argv, "serial",
                                                   [](auto&, const auto& job, auto leaves) { return sum(job, leaves); });
}

#pragma once

#include "../runtimes/nopal.hpp"
#include "latency.hpp"

namespace bench {

inline nopal::task<std::uint64_t> sum(const job& work, leaf_range leaves) {
  if (leaves.empty()) co_return 0;
  if (leaves.single()) co_return work.leaf(leaves.first);
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  co_await nopal::fork(&left, sum, work, leaves.left());
  co_await nopal::call(&right, sum, work, leaves.right());
  co_await nopal::join;
  co_return left + right;
}

// A pool without pinned workers.
template <nopal::idle Idle>
struct unpinned_runtime {
  explicit unpinned_runtime(unsigned workers) : pool{{.workers = workers, .idle = Idle, .pin = false}} {}
  static std::string version() { return nopal_runtime::version(); }
  nopal::pool pool;
};

// `Runtime` has a pool.
template <class Runtime>
int run_task_latency(int argc, char** argv, const std::string& impl) {
  return run_latency<Runtime>(argc, argv, impl, [](auto& on, const auto& work, auto leaves) { return on.pool.run(sum, work, leaves); });
}

}  // namespace bench

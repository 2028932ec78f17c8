#pragma once

// A limit on the CPUs that several pools use together: pool_options::limit. Next: core/scheduler/permits.hpp, which keeps it.

#include "nopal/core/compiler/config.hpp"

#include <memory>

namespace nopal::inline NOPAL_ABI {

namespace core {
class permits;
struct pool_state;
}  // namespace core

/// How many workers may run at a time, of all pools that were made with a copy of this object:
///
///     nopal::cpu_limit const four{4};
///     nopal::pool a{{.workers = 4, .limit = four}}, b{{.workers = 4, .limit = four}};
///
/// A worker that finds nothing makes way for others before it sleeps. A worker that works makes way between two strands, for those that have
/// waited longest, if it has run for a millisecond; so who waits does so until some strand ends, waits or yields. A call that blocks its
/// thread counts as running, unless it is made by nopal::block_on. Two kinds of threads are let in above the limit, since others may wait
/// for them: those that wait on top of their stack (nopal::stay, resume::home), and those whose pool ends. Threads outside do not work in
/// the place of a worker of such a pool. Under a controlled schedule and on a simulated machine there is no limit. The child of a fork makes
/// a limit of its own.
class NOPAL_API cpu_limit {
 public:
  /// Throws std::invalid_argument if `workers` is 0, or more than the largest int.
  explicit cpu_limit(unsigned workers);
  /// The limit.
  unsigned workers() const noexcept;
  /// How many workers run now. Any thread; it may have changed since.
  unsigned running() const noexcept;
  /// True if they are copies of one another.
  bool operator==(cpu_limit const&) const = default;

 private:
  friend struct core::pool_state;
  std::shared_ptr<core::permits> permits_;
};

}  // namespace nopal

#pragma once

// Permits to run, which the workers of several pools share: nopal::cpu_limit. README.md, "Permits". Next: search.cpp, where workers take them
// and give them back.

#include <atomic>
#include <cstdint>
#include <mutex>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;
class worker;

/// Any thread may call any function at any time.
class permits {
 public:
  explicit permits(unsigned all) noexcept : all_{all}, free_{static_cast<int>(all)} {}
  permits(permits const&) = delete;
  permits& operator=(permits const&) = delete;

  unsigned all() const noexcept { return all_; }
  unsigned taken() const noexcept;
  /// True if some thread waits in `take`. relaxed: a hint, which a worker reads again soon.
  bool are_waited_for() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

  /// Takes a permit, after those that have waited before; at once, also if none is free, where the pool of `w` ends, or this worker must not
  /// wait. By the worker's thread.
  void take(worker& w) noexcept;
  /// Takes a permit at once, also if none is free.
  void take_anyway() noexcept;
  void give() noexcept;
  /// The pool ends, and its `stopping` is set: whoever waits for it waits no more.
  void let_in(pool_state const& of) noexcept;

 private:
  struct waiter;
  void let_in_first() noexcept;
  bool withdraw(waiter& w) noexcept;

  unsigned const all_;
  mutable std::mutex mutex_;
  int free_;  ///< under the mutex; below 0 while more run than may
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
  std::atomic<unsigned> waiting_{0};  ///< how many there are; changed under the mutex
};

/// The worker's thread pauses, at the base of a native stack or on top of one that waits: gives its permit back, if it has one.
void give_permit(worker& w) noexcept;

}  // namespace nopal::core

#pragma once

// Permits to run, which the workers of several pools share: nopal::cpu_limit. README.md, "Permits". Next: search.cpp, where workers take them
// and give them back.

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

class worker;

/// Any thread may call any function at any time.
class permits {
 public:
  static constexpr unsigned most = std::numeric_limits<int>::max();
  /// `all`: from 1 to `most`.
  explicit permits(unsigned all) noexcept : all_{all}, free_{static_cast<int>(all)} {}
  permits(permits const&) = delete;
  permits& operator=(permits const&) = delete;

  unsigned all() const noexcept { return all_; }
  unsigned taken() const noexcept;
  /// True if some thread waits in `take`. relaxed: a hint, which a worker reads again soon.
  bool are_waited_for() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

  /// Takes a permit, after those that have waited before; at once, also if none is free, where the pool of `w` ends, whose `stopping` this is.
  /// `must_not_wait`: null, or asked once in a slice; where it returns true, the worker waits no more. By the worker's thread.
  void take(worker& w, std::atomic<bool> const& stopping, bool (*must_not_wait)(worker& w)) noexcept;
  /// Takes a permit at once, also if none is free.
  void take_anyway() noexcept;
  void give() noexcept;
  /// A pool ends, and its `stopping`, this, is set: its workers wait no more.
  void let_in(std::atomic<bool> const& stopping) noexcept;

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

}  // namespace nopal::core

#pragma once

// The pools that the process has: for reports on a signal (src/report/report_on_signal.hpp) and for debuggers. A pool enters the list when
// all of it but its threads is made, and leaves the list when nothing waits on it any more. Next: pool_state.hpp, which has one.

#include <mutex>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;

/// A pool's place in the list.
class live_pool {
 public:
  live_pool() = default;
  live_pool(live_pool const&) = delete;
  live_pool& operator=(live_pool const&) = delete;
  ~live_pool() { leave(); }

  /// `mine`: the pool that this is a part of. Once. `name` stays as long.
  void enter(pool_state const& mine, char const* name) noexcept;
  /// Waits while for_each runs. Does nothing if the pool is not in the list.
  void leave() noexcept;

  /// Calls f(pool) for each pool, the newest first, under the list's lock, so no pool leaves. A pool may belong to the parent of a fork.
  template <class F>
  static void for_each(F f) {
    std::lock_guard const guard{mutex_};
    for (live_pool const* p = first_; p != nullptr; p = p->next_) f(*p->pool_);
  }

  // ---- Around a fork, by the thread that forks: the list is locked in between.

  static void before_fork() noexcept { mutex_.lock(); }
  static void after_fork() noexcept { mutex_.unlock(); }

 private:
  friend struct debug_layout;

  static inline constinit std::mutex mutex_;
  static inline constinit live_pool* first_ = nullptr;

  pool_state const* pool_ = nullptr;
  char const* name_ = nullptr;  ///< the pool's, for debuggers
  live_pool* next_ = nullptr;
  live_pool** in_ = nullptr;  ///< the pointer to this entry; null: it is not in the list
};

}  // namespace nopal::core

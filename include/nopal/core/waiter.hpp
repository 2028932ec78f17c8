#pragma once

// How anything waits: the stack of a worker is left, a foreign thread sleeps. Whoever makes the awaited thing true wakes the waiter,
// which lies in the waiting frame, so that no queue of waiters needs memory of its own. Next: ../counter.hpp, ../mutex.hpp.

#include <atomic>
#include <type_traits>

#include "nopal/core/root.hpp"
#include "nopal/core/scheduler.hpp"
#include "nopal/core/stack.hpp"
#include "nopal/core/worker.hpp"

namespace nopal::core {

struct waiter : waiting_stack {
  waiter* next_waiter = nullptr;  ///< in the queue of what it waits for, under that queue's lock
  event* thread = nullptr;        ///< instead of a stack: the caller works for no pool, or has no memory for another stack

  // Only for a wait with a time limit: two may want to wake it, and the one that claims it does.
  bool timed = false;
  std::atomic<bool> claimed{false};

  /// True: the caller wakes it. acq_rel: who loses sees what the winner did before.
  bool claim() noexcept { return !timed || !claimed.exchange(true, std::memory_order_acq_rel); }
  /// The last look at it. Any thread, once it is claimed, or without a lock that the waiter takes on its way out.
  void wake() noexcept {
    if (thread != nullptr) return thread->set();
    pool->resume(*this);
  }
};

/// Waits until somebody wakes `me`. `publish(with)` makes it known: from then on it may be woken. It says no, and `me` is known to nobody,
/// if there is nothing to wait for. `why` is for reports. The caller may go on on another thread, if it works for a pool.
void park(waiter& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept;
template <class Publish>
void park(waiter& me, waits_for why, Publish publish) noexcept {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&>);
  park(me, why, [](void* with) noexcept { return (*static_cast<Publish*>(with))(); }, &publish);
}

}  // namespace nopal::core

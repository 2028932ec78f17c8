#pragma once

// What the timer and one waiter share: the part of a timer entry that a model checks. Both the timer and the waker may want to wake the
// waiter; the one that claims it does: README.md, "Time limits". Next: timer.hpp.

#include "nopal/core/base/sync.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The timer's mutex guards all of it. The waiter takes that mutex once more before its frame ends. Once woken, it may also read `expired`
/// without the mutex: only the claimer writes it, before the wake-up.
template <class Sync, class Waiter>
struct basic_deadline {
  Waiter& who;
  typename Sync::template plain<bool> waits{false};    ///< the timer has the entry in its queue
  typename Sync::template plain<bool> expired{false};  ///< the timer has claimed the waiter

  /// Wakes the waiter, unless another thread has claimed it. By the timer, when the deadline expires, under its mutex.
  void expire() noexcept {
    waits = false;
    if (!who.claim()) return;
    expired = true;
    who.wake();
  }
};

}  // namespace nopal::core

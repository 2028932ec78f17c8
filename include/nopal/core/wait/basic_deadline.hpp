#pragma once

// What the timer and one waiter share. Two may want to wake that waiter; the one that claims it does: README.md, "Waiting", "Time limits".

#include "nopal/core/base/sync.hpp"

namespace nopal::core {

/// All of it under the timer's mutex, which the waiter takes once more on its way out; but for `expired`, which it may read once woken.
template <class Sync, class Waiter>
struct basic_deadline {
  Waiter& who;
  typename Sync::template plain<bool> waits{false};    ///< the timer knows it
  typename Sync::template plain<bool> expired{false};  ///< the timer has claimed it

  /// The time has come.
  void expire() noexcept {
    waits = false;
    if (!who.claim()) return;  // somebody else wakes it
    expired = true;
    who.wake();
  }
};

}  // namespace nopal::core

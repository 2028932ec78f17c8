#pragma once

// What a request to stop and one waiter share: the part of a wait that ends early which a model checks. Both the request and the waker may
// want to wake the waiter; the one that claims it does. Next: ../wait/timer.hpp, whose entry has one.

#include "nopal/core/stop/basic_request.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The lock bit of the request guards it, from start until the waiter takes that bit once more, in end. Once woken, the waiter may also
/// read `told` without it: only the claimer writes it, before the wake-up.
template <class Sync, class Waiter>
struct basic_stop_wait : basic_request<Sync>::listener {
  using request = basic_request<Sync>;

  Waiter& who;
  typename Sync::template plain<bool> told{false};  ///< the request has claimed the waiter

  explicit basic_stop_wait(Waiter& w) noexcept
      : request::listener{[](typename request::listener& l) noexcept { static_cast<basic_stop_wait&>(l).end_wait(); }}, who{w} {}

  /// From now on `r` ends the wait. If it was made before, it ends the wait at once, and also() is not called. By the waiter, whose other
  /// wakers may know it already.
  template <class Also>
  void start(request& r, Also also) noexcept {
    if (!r.add(*this, also)) end_wait();
  }
  /// Before the waiter's frame ends, for whatever reason the wait has ended.
  void end(request& r) noexcept { r.remove(*this); }

 private:
  void end_wait() noexcept {
    if (!who.claim()) return;
    told = true;
    who.wake();
  }
};

}  // namespace nopal::core

#pragma once

// A request to stop: it is made once and stays, and it notifies its listeners. Any thread makes it, listens, and asks whether it was made.
// README.md, "A request", says why no listener waits for ever, and why none is notified after it has left. Two listen: what
// a request and one waiter share, below, and stop_region.hpp.

#include <cstdint>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/wait/lock_bit.hpp"

namespace nopal::inline NOPAL_ABI::core {

///     | made 2 | locked 1 |
///
/// Only the holder of the lock bit changes the other one, and uses the list.
template <class Sync = std_sync>
class basic_request {
  template <class T>
  using plain = typename Sync::template plain<T>;

 public:
  /// The request notifies it. It is in the frame of a waiter, or in a region.
  struct listener {
    /// Called once, under the lock bit of the request: it must not block, nor leave or enter any list of this request.
    void (*tell)(listener&) noexcept;
    plain<listener*> before{nullptr};
    plain<listener*> behind{nullptr};
    plain<bool> listed{false};

    explicit listener(void (*f)(listener&) noexcept) noexcept : tell{f} {}
  };

  /// True if the request was made. Once true it stays so. acquire: pairs with make, for what the requester wrote before.
  bool is_made() const noexcept { return (word_.load(std::memory_order_acquire) & made) != 0; }

  /// Enters `l`, and calls also() before it can be notified. False: the request was made, `l` is in no list, and also() was not called.
  template <class Also>
  bool add(listener& l, Also also) noexcept {
    if (lock() != 0) {
      unlock(made);
      return false;
    }
    link(l);
    also();
    unlock(0);
    return true;
  }
  /// From now on `l` is not notified. If its notification or also() is running, this waits for the end of that. `l` need not be listed.
  void remove(listener& l) noexcept {
    std::uint32_t const was = lock();
    if (l.listed) unlink(l);
    unlock(was);
  }
  /// Makes the request, and notifies all listeners, the newest first. Any number of times. O(listeners). Others may enter and leave between
  /// two of them.
  void make() noexcept {
    lock();
    // release: pairs with is_made. Before any listener is notified: each finds the request made.
    word_.store(made | locked, std::memory_order_release);
    for (listener* l = first_; l != nullptr; l = first_) {
      unlink(*l);
      l->tell(*l);  // a waiter that is woken here takes the lock bit before its frame ends
      unlock(made);
      lock();
    }
    unlock(made);
  }
  /// Afterwards no listener is in the list, and the request is not made. By the only thread that knows of it. relaxed: the thread that
  /// hands it on orders that.
  void reset() noexcept { word_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t made = 2;

  std::uint32_t lock() noexcept { return lock_bit<Sync>(word_, locked) & made; }
  // release: pairs with lock_bit, for the list. While the lock is held lock_bit only sets a bit that is set.
  void unlock(std::uint32_t state) noexcept { word_.store(state, std::memory_order_release); }

  void link(listener& l) noexcept {
    listener* const next = first_;
    l.before = nullptr;
    l.behind = next;
    l.listed = true;
    if (next != nullptr) next->before = &l;
    first_ = &l;
  }
  void unlink(listener& l) noexcept {
    listener* const before = l.before;
    listener* const behind = l.behind;
    (before != nullptr ? before->behind : first_) = behind;
    if (behind != nullptr) behind->before = before;
    l.listed = false;
  }

  typename Sync::template atomic<std::uint32_t> word_{0};
  plain<listener*> first_{nullptr};  // under the lock bit
};

// What a request to stop and one waiter share: the part of a wait that ends early which a model checks. Both the request and the waker may
// want to wake the waiter; the one that claims it does. Next: ../wait/timer.hpp, whose entry has one.

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

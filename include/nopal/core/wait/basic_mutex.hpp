#pragma once

// The mutex's protocol.
//
// Who gets it. Unlocking frees the mutex and wakes the first waiter, and whoever comes first has it: handing it over to one that has yet
// to be switched to would make everybody wait for that switch, and once there was a queue it would never go (1 to 2 µs a lock and unlock
// by 100 fibers on 2 CPUs, where this takes 20 to 90 ns). So that nobody waits for ever, one that was woken and came too late waits at the
// front again, and the third time it is handed over. At most one is on its way: unlocking meanwhile wakes nobody.
//
// A waiter enters the queue having seen an owner, under the lock bit. That owner cannot leave by the compare-exchange of unlock, since the
// word is no longer it alone, but comes to the queue. He wakes the first, or one is on its way: that one takes the mutex, and will come to
// the queue, or finds an owner again, who will.

#include <cstdint>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/queued_word.hpp"
#include "nopal/core/wait/waits_for.hpp"

namespace nopal::core {

template <class Waits>
class basic_mutex {
  using words = queued_word<Waits, std::uintptr_t>;

 public:
  constexpr basic_mutex() noexcept : self_{0} {}

  /// For who destroys it. relaxed: he has locked it last, or knows of the last unlock.
  bool at_rest() const noexcept { return self_.word.load(std::memory_order_relaxed) == 0; }
  /// relaxed: for reports. Does somebody wait, or has yet to come?
  bool is_awaited() const noexcept { return (self_.word.load(std::memory_order_relaxed) & (words::waited_for | on_its_way)) != 0; }
  /// Who has it, as a report finds in a copy of the mutex's first word, which is its only one but for the queue.
  static std::uintptr_t owner_in(std::uintptr_t word) noexcept { return word & owners; }
  /// Who has it, or 0. relaxed: if it is the caller, it has written it.
  std::uintptr_t owner() const noexcept { return self_.word.load(std::memory_order_relaxed) & owners; }

  /// The fast ways. False: `seen` is in it instead.
  bool lock_if_free(std::uintptr_t who, std::uintptr_t& seen) noexcept {
    seen = 0;
    // acquire: pairs with unlock
    return self_.word.compare_exchange_strong(seen, who, std::memory_order_acquire, std::memory_order_relaxed);
  }
  bool unlock_if_alone(std::uintptr_t who) noexcept {
    // release: pairs with lock. The last touch, as is that of unlock_slowly: the next owner may unlock and destroy it.
    return self_.word.compare_exchange_strong(who, 0, std::memory_order_release, std::memory_order_relaxed);
  }
  static bool is_owned(std::uintptr_t seen) noexcept { return (seen & owners) != 0; }

  /// After lock_if_free has seen that it is not owned. False: somebody has it.
  bool try_lock_slowly(std::uintptr_t who) noexcept { return take(waiter{who}); }
  /// Also where the caller is about to unlock it, on another stack.
  void lock_in_turn(std::uintptr_t who) noexcept {
    waiter me{who};
    for (int k = 0; k < Waits::mutex_polls; ++k) {
      if (owner() == 0 && take(me)) return;
      Waits::sync::relax();
    }
    for (;;) {
      Waits::await_wake(me, {"a mutex", this, wait_kind::mutex}, [&]() noexcept { return enqueue(me); });
      if (me.owns) return;
      ++me.woken;
      if (take(me)) return;
    }
  }
  /// By its owner, who may have just left his stack.
  void unlock(std::uintptr_t who) noexcept {
    if (!unlock_if_alone(who)) unlock_slowly(who);
  }
  void unlock_slowly(std::uintptr_t who) noexcept {
    if (std::uintptr_t const has = owner(); has != who) {
      die(has == 0 ? "a mutex was unlocked that is not locked; unlock once for each lock, or let a std::lock_guard do it"
                   : "a mutex was unlocked by another fiber, task or thread than the one that has locked it, or by a task after a "
                     "co_await; unlock it where it was locked, before any co_await, or use a nopal::semaphore{1}");
    }
    std::uintptr_t after = self_.lock() & on_its_way;
    waiter* next = nullptr;
    if (after == 0) next = static_cast<waiter*>(self_.queue.pop_front());
    if (next != nullptr) {
      next->owns = next->woken == Waits::mutex_wakeups_in_vain;
      after = next->owns ? next->who : on_its_way;
    }
    self_.unlock(after);
    if (next != nullptr) next->wake();
  }

 private:
  struct waiter : words::node {
    std::uintptr_t who;  ///< will own it
    unsigned woken = 0;  ///< how often, to find it locked again but for the last time
    typename Waits::sync::template plain<bool> owns{false};  ///< it was handed over
    explicit waiter(std::uintptr_t w) noexcept : who{w} {}
  };

  /// `w` with `me` for its owner.
  static std::uintptr_t owned_by(waiter const& me, std::uintptr_t w) noexcept { return (me.woken != 0 ? w & ~on_its_way : w) | me.who; }

  // True: `me` owns it.
  bool take(waiter const& me) noexcept {
    std::uintptr_t const w = self_.lock();
    bool const free = (w & owners) == 0;
    self_.unlock(free ? owned_by(me, w) : w);
    return free;
  }

  // On another stack than the one that waits. False: it owns it already.
  bool enqueue(waiter& me) noexcept {
    std::uintptr_t const w = self_.lock();
    if ((w & owners) == 0) {
      me.owns = true;
      self_.unlock(owned_by(me, w));
      return false;
    }
    if (me.woken == 0) {
      self_.wait_behind(me, nullptr, w);
    } else {
      self_.queue.push_front(me);
      self_.unlock(w & ~on_its_way);  // from here on `me` may be gone
    }
    return true;
  }

  // The state: | who owns it, or 0 | on_its_way 4 |
  static constexpr std::uintptr_t on_its_way = words::flags + 1;  ///< a waiter was woken and has not come yet: no second one need be woken
  static constexpr std::uintptr_t owners = ~(on_its_way | words::flags);
  words self_;
};

}  // namespace nopal::core

#pragma once

// What the mutex, the condition variable and the semaphore wait in: a list whose nodes lie in the waiting frames, first come, first
// served, and the lock bit that guards it. README.md, "Waiting in a queue", says why none is woken in vain or forgotten.
// Next: ../mutex.hpp.

#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "nopal/core/sync.hpp"
#include "nopal/core/timer.hpp"
#include "nopal/core/waiter.hpp"

namespace nopal::core {

/// In a wait_queue while it waits; next_waiter links those that are woken together.
struct queued_waiter : waiter {
  queued_waiter* ahead = nullptr;
  queued_waiter* behind = nullptr;
};

/// Those that were claimed under a lock, to be woken in order once it is free.
class claimed_waiters {
 public:
  void add(waiter& w) noexcept {
    w.next_waiter = nullptr;
    last_ = &(*last_ = &w)->next_waiter;
  }
  void wake() noexcept {
    while (first_ != nullptr) std::exchange(first_, first_->next_waiter)->wake();  // read before it may be gone
  }

 private:
  waiter* first_ = nullptr;
  waiter** last_ = &first_;
};

/// Whoever uses it holds its lock bit. O(1), but for skipping those that have timed out and are not gone yet.
class wait_queue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }

  void push_back(queued_waiter& w) noexcept { link(last_, w, nullptr); }
  /// For one that has waited before.
  void push_front(queued_waiter& w) noexcept { link(nullptr, w, first_); }
  void remove(queued_waiter& w) noexcept {
    (w.ahead != nullptr ? w.ahead->behind : first_) = w.behind;
    (w.behind != nullptr ? w.behind->ahead : last_) = w.ahead;
  }
  /// Null if it is empty. Not where there are time limits.
  queued_waiter* pop_front() noexcept {
    queued_waiter* const w = first_;
    if (w != nullptr) remove(*w);
    return w;
  }
  /// Takes out the first `most` that the caller may wake: how many there are. One that has timed out stays until it removes itself: thus
  /// whoever destroys the queue can wait for it.
  std::ptrdiff_t claim(std::ptrdiff_t most, claimed_waiters& into) noexcept {
    std::ptrdiff_t n = 0;
    for (queued_waiter* w = first_; n < most && w != nullptr;) {
      queued_waiter* const next = w->behind;
      if (w->claim()) {
        remove(*w);
        into.add(*w);
        ++n;
      }
      w = next;
    }
    return n;
  }
  /// Has somebody in it not timed out?
  bool awaited() const noexcept {
    for (queued_waiter const* w = first_; w != nullptr; w = w->behind) {
      // acquire: as in claim
      if (!w->timed || !w->claimed.load(std::memory_order_acquire)) return true;
    }
    return false;
  }

 private:
  void link(queued_waiter* ahead, queued_waiter& w, queued_waiter* behind) noexcept {
    w.ahead = ahead;
    w.behind = behind;
    (ahead != nullptr ? ahead->behind : first_) = &w;
    (behind != nullptr ? behind->ahead : last_) = &w;
  }

  queued_waiter* first_ = nullptr;
  queued_waiter* last_ = nullptr;
};

/// Sets `bit` in `word`, alone: while it is set, nobody but the caller changes the word. It is held for a few instructions, and given
/// back by a store with release. The word as it was.
template <class Word>
Word lock_bit(std::atomic<Word>& word, Word bit) noexcept {
  for (;;) {
    // acquire: pairs with the release of whoever had it, for the queue
    if (Word const before = word.fetch_or(bit, std::memory_order_acquire); (before & bit) == 0) return before;
    for (int k = 0; (word.load(std::memory_order_relaxed) & bit) != 0; ++k) {
      cpu_relax();
      if (k > 64) std_sync::yield();
    }
  }
}

/// As park, but no longer than until `limit`. False: that came first, and `me` is still wherever `publish` has put it. `publish` may get
/// a ticket, which it starts under the lock that `me` will need on its way out: the timer may wake it at once. Throws std::bad_alloc,
/// std::system_error, before anything has happened.
bool park_until(waiter& me, waits_for why, time_point limit, bool (*publish)(void* with, timer::ticket* limit) noexcept, void* with);
template <class Publish>
bool park_until(waiter& me, waits_for why, time_point limit, Publish publish) {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&, timer::ticket*>);
  return park_until(
      me, why, limit, [](void* with, timer::ticket* t) noexcept { return (*static_cast<Publish*>(with))(t); }, &publish);
}

}  // namespace nopal::core

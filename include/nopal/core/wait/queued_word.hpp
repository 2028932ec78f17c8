#pragma once

// The queue of the waiters of a mutex, a condition variable or a semaphore: a doubly linked list, first come, first served. Its nodes are
// in the waiting frames. The holder of the word's lock bit uses it. Below: the word.

#include <cstddef>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/wait/waiter.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Waiters that the calling thread has claimed under a lock. It wakes them in order once it has released the lock.
template <class Waits>
class claimed_waiters {
  using node = typename Waits::waiter::node;

 public:
  void add(node& w) noexcept {
    w.next_waiter = nullptr;
    *last_ = &w;
    last_ = &w.next_waiter;
  }
  void wake() noexcept {
    for (node* w = first_; w != nullptr;) {
      node* const next = w->next_waiter;  // read before `w` may be gone
      w->wake();
      w = next;
    }
  }

 private:
  using link = decltype(node::next_waiter);
  link first_{nullptr};
  link* last_ = &first_;
};

/// A node of wait_queue. Once it is claimed, next_waiter links it with those that are woken together.
template <class Waits>
struct queued_waiter : Waits::waiter {
  template <class T>
  using plain = typename Waits::sync::template plain<T>;
  plain<queued_waiter*> ahead{nullptr};
  plain<queued_waiter*> behind{nullptr};
};

/// Each operation takes O(1), but claim and awaited also skip waiters that have timed out and have not removed themselves yet.
template <class Waits>
class wait_queue {
  using node = queued_waiter<Waits>;

 public:
  bool empty() const noexcept { return first_ == nullptr; }

  void push_back(node& w) noexcept { link(last_, w, nullptr); }
  /// For a waiter that was woken before, in vain.
  void push_front(node& w) noexcept { link(nullptr, w, first_); }
  void remove(node& w) noexcept {
    node* const ahead = w.ahead;
    node* const behind = w.behind;
    (ahead != nullptr ? ahead->behind : first_) = behind;
    (behind != nullptr ? behind->ahead : last_) = ahead;
  }
  /// Removes the first; null if there is none. Only for queues without time limits: it claims nothing.
  node* pop_front() noexcept {
    node* const w = first_;
    if (w != nullptr) remove(*w);
    return w;
  }
  /// Claims and removes the first waiters, at most `most`. Returns how many. A waiter that has timed out stays in the queue until it
  /// removes itself, so that the destroyer of the queue can wait for it.
  std::ptrdiff_t claim(std::ptrdiff_t most, claimed_waiters<Waits>& into) noexcept {
    std::ptrdiff_t n = 0;
    for (node* w = first_; n < most && w != nullptr;) {
      node* const next = w->behind;
      if (w->claim()) {
        remove(*w);
        into.add(*w);
        ++n;
      }
      w = next;
    }
    return n;
  }
  /// Claims and removes the first waiters, while may_have(w) is true of the next one that has not timed out. Calls has(w) for each.
  template <class MayHave, class Has>
  void claim_while(MayHave may_have, Has has, claimed_waiters<Waits>& into) noexcept {
    for (node* w = first_; w != nullptr;) {
      node* const next = w->behind;
      if (!w->expired()) {
        if (!may_have(*w)) return;
        if (w->claim()) {
          remove(*w);
          has(*w);
          into.add(*w);
        }
      }
      w = next;
    }
  }
  /// True if there is a waiter that has not timed out.
  bool awaited() const noexcept {
    for (node const* w = first_; w != nullptr; w = w->behind) {
      if (!w->expired()) return true;
    }
    return false;
  }

 private:
  void link(node* ahead, node& w, node* behind) noexcept {
    w.ahead = ahead;
    w.behind = behind;
    (ahead != nullptr ? ahead->behind : first_) = &w;
    (behind != nullptr ? behind->ahead : last_) = &w;
  }

  template <class T>
  using plain = typename Waits::sync::template plain<T>;
  plain<node*> first_{nullptr};
  plain<node*> last_{nullptr};
};

// What the mutex, the condition variable and the semaphore have in common: one word, and a queue that a bit of the word locks. README.md,
// "Waiting in a queue", says why no waiter is forgotten. Any thread. Next: basic_mutex.hpp, basic_semaphore.hpp.

/// Without the lock bit, a thread changes the state, in the higher bits, only by a compare-exchange that finds both flags clear.
template <class Waits, class Word>
class queued_word {
 public:
  using sync = typename Waits::sync;
  using node = queued_waiter<Waits>;
  using timer_entry = typename Waits::timer_entry;

  // | state | waited_for 2 | locked 1 |
  static constexpr Word locked = 1;      ///< a thread uses the queue, for a few instructions
  static constexpr Word waited_for = 2;  ///< the queue is not empty
  static constexpr Word flags = 3;

  constexpr explicit queued_word(Word state) noexcept : word{state} {}

  /// Takes the lock bit. Returns the state.
  Word lock() noexcept { return lock_bit<sync>(word, locked) & ~flags; }
  /// Clears the lock bit, and sets the state and the flag. release: pairs with lock_bit, for the queue, and with the acquiring
  /// compare-exchanges of the fast ways, for what the state stands for. A waker's last access of the object. From here on waiters in the
  /// queue may be woken and be gone.
  void unlock(Word state) noexcept { word.store(queue.empty() ? state : state | waited_for, std::memory_order_release); }

  /// Enters `me` into the queue and clears the lock bit: then `me` may be gone. `entry` is null without a time limit.
  void wait_behind(node& me, timer_entry* entry, Word state) noexcept {
    queue.push_back(me);
    if (entry != nullptr) Waits::start(*entry);  // the timer may wake `me` at once; `me` then needs the lock bit to remove itself
    unlock(state);
  }
  /// Removes `me`, which has timed out. By `me`.
  void forget(node& me) noexcept {
    Word const state = lock();
    queue.remove(me);
    unlock(state);
  }

  typename sync::template atomic<Word> word;
  wait_queue<Waits> queue;
};

}  // namespace nopal::core

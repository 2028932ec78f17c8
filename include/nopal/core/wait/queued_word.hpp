#pragma once

// What the mutex, the condition variable and the semaphore are: one word, and a queue that a bit of the word locks. README.md, "Waiting in
// a queue", says why none is woken in vain or forgotten. Next: mutex_word.hpp, semaphore_word.hpp, condition_word.hpp.

#include "nopal/core/wait/lock_bit.hpp"
#include "nopal/core/wait/wait_queue.hpp"

namespace nopal::core {

/// The state, in the higher bits, is changed without the lock bit only where both flags are clear.
template <class Waits, class Word>
class queued_word {
 public:
  using sync = typename Waits::sync;
  using node = queued_waiter<Waits>;
  using timer_entry = typename Waits::timer_entry;

  // | state | waited_for 2 | locked 1 |
  static constexpr Word locked = 1;      ///< somebody is at the queue: short
  static constexpr Word waited_for = 2;  ///< the queue is not empty
  static constexpr Word flags = 3;

  constexpr explicit queued_word(Word state) noexcept : word{state} {}

  /// Takes the lock bit: the state.
  Word lock() noexcept { return lock_bit<sync>(word, locked) & ~flags; }
  /// Gives it back. release: the state and the queue, for the next who takes it, and for the fast ways. The last touch of whoever wakes
  /// others; and those in the queue may be woken and be gone from here on.
  void unlock(Word state) noexcept { word.store(queue.empty() ? state : state | waited_for, std::memory_order_release); }

  /// With the lock bit, which it gives back: `me`, which waits now, may be gone. `limit` is null without one.
  void wait_behind(node& me, timer_entry* limit, Word state) noexcept {
    queue.push_back(me);
    if (limit != nullptr) Waits::start(*limit);  // woken at once, `me` still needs the lock bit to remove itself
    unlock(state);
  }
  /// It has timed out.
  void forget(node& me) noexcept {
    Word const state = lock();
    queue.remove(me);
    unlock(state);
  }

  typename sync::template atomic<Word> word;
  wait_queue<Waits> queue;
};

}  // namespace nopal::core

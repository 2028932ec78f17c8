#pragma once

// What the mutex, the condition variable and the semaphore have in common: one word, and a queue that a bit of the word locks. README.md,
// "Waiting in a queue", says why no waiter is forgotten. Any thread. Next: basic_mutex.hpp, basic_semaphore.hpp, basic_condition.hpp.

#include "nopal/core/wait/lock_bit.hpp"
#include "nopal/core/wait/wait_queue.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

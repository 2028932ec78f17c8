#pragma once

// The lock of a deque's slow steps: of the owner when a pop failed or when it publishes, and of a thief that takes by force. Held for a few
// instructions; longer by a thief that waits for a heavy_fence. Next: deque.hpp.

#include <atomic>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::inline NOPAL_ABI::core {

template <class Sync>
class basic_spin_lock {
 public:
  /// acquire: pairs with unlock. relaxed: a hint, the exchange decides.
  bool try_lock() noexcept { return !word_.load(std::memory_order_relaxed) && !word_.exchange(true, std::memory_order_acquire); }
  void lock() noexcept {
    for (int n = 0, round = 0; !try_lock(); Sync::relax()) {
      if (++n == tuning::lock_pauses) {
        Sync::give_way(round++);
        n = 0;
      }
    }
  }
  /// release: pairs with try_lock; all that was done under the lock.
  void unlock() noexcept { word_.store(false, std::memory_order_release); }

 private:
  typename Sync::template atomic<bool> word_{false};
};

// The lock bit: a lock within the word of an object that threads wait for. It guards the queue of waiters. Next: queued_word.hpp and
// basic_counter.hpp, which have one.

/// Sets `bit` in `word`, and waits while another thread has it set. It is held for a few instructions, and cleared by a release. Returns
/// the word as it was before. Any thread.
template <class Sync, class Word>
Word lock_bit(typename Sync::template atomic<Word>& word, Word bit) noexcept {
  for (;;) {
    // acquire: pairs with the release by which the last holder cleared it, for the queue
    if (Word const before = word.fetch_or(bit, std::memory_order_acquire); (before & bit) == 0) return before;
    // relaxed: the fetch_or decides
    for (int k = 0; (word.load(std::memory_order_relaxed) & bit) != 0; ++k) {
      Sync::relax();
      if (k > tuning::lock_pauses) Sync::give_way(k - tuning::lock_pauses);
    }
  }
}

}  // namespace nopal::core

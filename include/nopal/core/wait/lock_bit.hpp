#pragma once

// The lock bit: a lock within the word of an object that threads wait for. It guards the queue of waiters. Next: queued_word.hpp and
// basic_counter.hpp, which have one.

#include <atomic>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

#pragma once

// The lock bit: a lock within a word that is waited for, which guards the queue of those that wait.

#include <atomic>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::core {

/// Sets `bit` in `word`: while it is set, nobody else gets past here. It is held for a few instructions, and given back with release. The
/// word as it was.
template <class Sync, class Word>
Word lock_bit(typename Sync::template atomic<Word>& word, Word bit) noexcept {
  for (;;) {
    // acquire: pairs with the release of whoever had it, for the queue
    if (Word const before = word.fetch_or(bit, std::memory_order_acquire); (before & bit) == 0) return before;
    for (int k = 0; (word.load(std::memory_order_relaxed) & bit) != 0; ++k) {
      Sync::relax();
      if (k > tuning::lock_pauses) Sync::yield();
    }
  }
}

}  // namespace nopal::core

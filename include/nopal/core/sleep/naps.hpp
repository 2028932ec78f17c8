#pragma once

// Naps. The one thief of a node that must stay awake, though it has long found nothing, sleeps between its searches, longer each time. A
// thread that offers something new ends the nap. No protocol rests on this: a nap ends by itself, so a notice that comes too early to be
// seen costs at most tuning::longest_nap. README.md, "Naps". Next: parking.hpp; ../scheduler/search.hpp, whose thief naps.

#include <atomic>
#include <cstdint>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

class naps {
 public:
  /// Sleeps until there is something new, or for `nanoseconds`. True: there is something new. By a thief.
  bool nap(std::int64_t nanoseconds) noexcept {
    word_.store(somebody_naps, std::memory_order_relaxed);  // relaxed, here and below: a hint, it orders nothing
    std_sync::wait_for(word_, somebody_naps, nanoseconds);
    return word_.load(std::memory_order_relaxed) != somebody_naps;
  }
  /// There is something new: wakes all that nap. By any thread, after it has offered it. One load if no thread naps.
  void end() noexcept {
    if (word_.load(std::memory_order_relaxed) == somebody_naps) wake();
  }

 private:
  static constexpr std::uint32_t nobody_naps = 0, somebody_naps = 1;

  NOPAL_COLD void wake() noexcept {
    // relaxed: as above; of several threads with something new, one wakes
    if (word_.exchange(nobody_naps, std::memory_order_relaxed) == somebody_naps) std_sync::wake_all(word_);
  }

  alignas(destructive_size) std::atomic<std::uint32_t> word_{nobody_naps};
};

}  // namespace nopal::core

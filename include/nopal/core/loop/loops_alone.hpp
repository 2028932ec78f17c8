#pragma once

// How long loops have run alone, one after the other, while a pool's threads slept: each too short to wake a thread, but not all together.
// Any number of threads. Called by sharing.hpp; each pool has one, ../scheduler/pool_state.hpp.

#include <atomic>
#include <cstdint>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

class loops_alone {
 public:
  /// A loop has ended at `now`, alone, after so many ticks. `soon`: the ticks after which the next does not count as one in a row. relaxed,
  /// here and below: hints, which order nothing; two threads that note at once may lose one.
  void note(std::uint64_t now, std::uint64_t ticks, std::uint64_t soon) noexcept {
    bool const in_a_row = now - ticks - last_end_.load(std::memory_order_relaxed) < soon;
    ticks_.store((in_a_row ? ticks_.load(std::memory_order_relaxed) : 0) + ticks, std::memory_order_relaxed);
    last_end_.store(now, std::memory_order_relaxed);
  }
  /// The ticks that the last loops in a row have taken, if the last has ended at most `soon` ticks before now.
  std::uint64_t ticks(std::uint64_t now, std::uint64_t soon) const noexcept {
    return now - last_end_.load(std::memory_order_relaxed) < soon ? ticks_.load(std::memory_order_relaxed) : 0;  // relaxed: see note
  }
  void forget() noexcept { ticks_.store(0, std::memory_order_relaxed); }  // relaxed: see note

 private:
  alignas(tuning::destructive_size) std::atomic<std::uint64_t> last_end_{0};
  std::atomic<std::uint64_t> ticks_{0};
};

}  // namespace nopal::core

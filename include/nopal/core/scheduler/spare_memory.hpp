#pragma once

// Memory that nothing uses goes back to the system about a second after the pool was busy. A worker that goes to sleep with much of it asks
// the pool's timer to look again later; and the timer, where the worker has slept on, wakes it for a moment to give it back: so nothing of a
// worker is touched by anybody but its owner. What lies in the pool's lists goes back by the timer itself. Next: search.hpp, which sleeps;
// external_caller.hpp, which leaves a worker; ../wait/timer.hpp.

#include <atomic>
#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/stack/stack.hpp"

namespace nopal::core {

class worker;

/// What a worker and the timer tell each other. relaxed, all of them: hints. Who misses one sees it the next time, since the timer looks
/// again as long as a sleeping worker holds much.
struct spare_memory {
  std::atomic<bool> much{false};       ///< the worker held much when it was last left; written by its owner
  std::atomic<std::uint64_t> uses{0};  ///< how often it was left; written by its owner
  std::atomic<bool> wanted{false};     ///< the timer wants it back
  std::uint64_t uses_before = 0;       ///< when the timer looked last; the timer's
  std::int64_t ring_bottom = 0;        ///< the ring's bottom when its pages went back last; the owner's
};

/// The worker's thread is about to sleep, at the base of `mine`: all its free stacks but some go to the pool; and all else that nothing uses
/// goes back to the system, if it has slept for long and was woken for that.
void spare_before_sleep(worker& w, stack& mine) noexcept;
/// An external caller is about to leave the worker, whose thread sleeps on: looks what there is to give back, later. A few loads where that
/// is little.
void note_spare_memory(worker& w) noexcept;

}  // namespace nopal::core

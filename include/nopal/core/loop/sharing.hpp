#pragma once

// When a loop that has run alone so far is worth sharing with others, and how a loop on a thread that works for no pool enters the default
// pool. Called by loop.cpp and fixed_tree.hpp between blocks. Next: ../scheduler/external_caller.hpp.

#include <cstdint>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/pace.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// True if there are others to share a loop with. False in a pool of one worker, or one that does not steal. By the thread that runs the
/// loop.
NOPAL_API bool could_share() noexcept;
/// True if the rest of a loop should be offered that has run for `elapsed` ticks and will run for `rest` more. By the thread that runs it.
///
/// On a worker that has offered something already, only if a thief requests more. Else at once if thieves are awake and the rest takes some
/// microseconds. If they sleep, later, or after many short loops in a row, since waking them costs some microseconds here, and they run
/// after some tens.
NOPAL_API bool worth_sharing(double elapsed, double rest) noexcept;
/// A loop is about to be shared that will run for `rest` ticks: wakes sleeping workers, if it has something for more than one. By a worker.
NOPAL_API void wake_for(double rest) noexcept;
/// A loop that began at this reading of the clock has ended, and was not shared.
NOPAL_API void ended_alone(std::uint64_t began) noexcept;

/// Tells threads outside which loops are so short that they need not ask: no thread would share them. By run_loop: so it is as new as the
/// last loop that has asked.
void note_who_shares(bool by_schedule) noexcept;

/// True if the pool runs under a controlled schedule, or the default pool might. Then all is shared at once, and nothing depends on time.
NOPAL_API bool shares_by_schedule() noexcept;
/// True if the caller works for no pool, and what it is about to run enters the default pool before all else: that shares by schedule, or
/// has a clock of its own, which does not move outside.
NOPAL_API bool begins_inside() noexcept;

/// Runs what(arg) on a worker of the default pool, in the place of a sleeping one if there is one. False: none sleeps, and `rest`, the
/// ticks that it will take, are too few to hand it to a worker's thread; nothing has happened. Throws what `what` throws, and what
/// default_pool() throws. By a thread that works for no pool.
NOPAL_API NOPAL_COLD bool enter_default_pool(void (*what)(void* arg), void* arg, double rest);
/// Runs what() as enter_default_pool does, but in each case.
template <class What>
void run_in_default_pool(What const& what) {
  enter_default_pool([](void* arg) { (*static_cast<What const*>(arg))(); }, const_cast<What*>(&what), loop_tuning::worth_a_wake());
}

}  // namespace nopal::core

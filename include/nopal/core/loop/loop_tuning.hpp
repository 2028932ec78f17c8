#pragma once

// The numbers of the loops, in ticks of the constant clock where they are times. Next: pace.hpp, sharing.hpp.

#include <cstdint>

#include "nopal/core/architecture/clock_ticks.hpp"

namespace nopal::inline NOPAL_ABI::core::loop_tuning {

/// A block takes so long at least, where a loop is long enough: a look between two blocks and the beginning of a vector loop take some
/// nanoseconds.
inline double block() noexcept { return ticks_per_microsecond(); }
/// So many times that it may take where the loop is long: the clock is then not read.
inline constexpr std::uint64_t longest_block = 16;
/// Blocks of a loop for each worker that runs it, at least, unless they take less than block().
inline constexpr std::uint64_t blocks_of_a_worker = 32;
/// The first block of a loop whose cost is a guess has no more than this part of it; and so many times as many iterations has the next
/// block at most.
inline constexpr std::uint64_t first_part = 8;
/// Nor more iterations than this: with other data each may take thousands of times as long, and nobody can stop a block.
inline constexpr std::uint64_t longest_guess = 1024;
inline constexpr double most_growth = 8;

/// A loop of more iterations asks, also if it is known to be short. Nobody can ask a thread that works for no pool to stop, but with
/// other data such a loop might be worth sharing.
inline constexpr std::uint64_t longest_unasked = 8192;
/// The first part of such a loop may take so many times as long as the others: it finds caches that are cold.
inline constexpr std::uint64_t cold = 4;

/// What is left of a loop is offered where thieves are awake and it takes so long: they need about a microsecond to come by, and the join
/// waits for them.
inline double worth_a_steal() noexcept { return 2 * ticks_per_microsecond(); }
/// Where all sleep: calling one takes the loop some microseconds, and it comes after some 50, with a cold cache. On virtual machines both take
/// longer: there a loop of 90 us that woke a thread took 140.
inline double worth_a_wake() noexcept { return 180 * ticks_per_microsecond(); }
/// Of what a loop has left where it is shared each worker that it wakes shall have so much, and the loop's own as well.
inline double worth_a_worker() noexcept { return 60 * ticks_per_microsecond(); }
/// Where all sleep, and the loop has run for so long: then it is offered also if this is what is left.
inline double long_enough() noexcept { return 120 * ticks_per_microsecond(); }
/// Values that take so long together are worked out in parallel before they are used: a leaf of a reduction, say. Memory for them and a loop of
/// their own take a tenth of that.
inline double worth_values() noexcept { return 20 * ticks_per_microsecond(); }
/// An answer that takes so long is worth memory for it: keeping it, and what is done with it afterwards, takes a tenth of that.
inline double worth_an_answer() noexcept { return ticks_per_microsecond() / 10; }
/// So long a worker waits at the end of a loop for a thief's part before it leaves its stack: about what leaving it and coming back takes.
inline double moment() noexcept { return 2 * ticks_per_microsecond(); }
/// A loop on a thread outside makes the default pool if the rest takes so long: making the threads takes about as much.
inline double worth_a_pool() noexcept { return 200 * ticks_per_microsecond(); }
/// Blocks of a loop under a controlled schedule: some, so that there is something to be stolen in many ways.
inline constexpr std::uint64_t blocks_by_schedule = 16;
/// But none of more iterations: the loop must see what ends it.
inline constexpr std::uint64_t longest_by_schedule = 1 << 16;

}  // namespace nopal::core::loop_tuning

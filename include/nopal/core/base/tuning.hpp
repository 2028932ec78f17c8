#pragma once

// Every bare number of the scheduler, with its unit and why it is what it is. What belongs to a data layout lies beside that layout.

#include <cstddef>
#include <cstdint>


namespace nopal::core::tuning {

// ---- The machine.

/// What two threads write must lie this far apart, in bytes: the adjacent-line prefetcher fetches pairs of 64-byte lines.
inline constexpr std::size_t destructive_size = 128;

// ---- A pool.

/// The most workers of one pool: enough for any machine, and few enough that a wrong number is an error and not a swapped-out machine.
inline constexpr unsigned most_workers = 1 << 14;
/// The least and the most bytes of a native stack. Less would not hold the guard page, the reserve and a few frames. Each is cut out of twice
/// as much address space, of which there are 2^47 bytes.
inline constexpr std::size_t least_stack = std::size_t{64} << 10;
inline constexpr std::size_t most_stack = std::size_t{1} << 40;
/// Unused native stacks that stay mapped, for each worker, with two pages of memory each at most: mapping one costs several system calls, and
/// a thousand fibers that wait at once are not many.
inline constexpr std::size_t kept_stacks = 1024;
/// Of these each worker keeps so many for itself while it sleeps.
inline constexpr std::size_t stacks_kept_asleep = 4;

// ---- A worker that finds nothing.

/// How long an idle thread searches before it sleeps, in nanoseconds. A caller that runs one small job after another finds it awake.
inline constexpr std::int64_t search_before_sleep = 100'000;
/// From this part of that time on it lets other threads have the CPU between its searches.
inline constexpr std::int64_t search_before_yield = search_before_sleep / 4;
/// After so many nanoseconds the one thief of a node that must stay awake naps between its searches, for so many.
inline constexpr std::int64_t search_before_naps = 2'000'000;
inline constexpr long nap = 20'000;
/// Pauses of the processor between two searches of a worker, at least: doubled after each search in vain, and up to twice as many at random,
/// so that thieves do not come all at once. 32 and their jitter are 1 to 5 us.
inline constexpr std::uint64_t shortest_backoff = 4;
inline constexpr std::uint64_t longest_backoff = 32;
/// The same for an external caller that waits for its own job in a worker's place: it has no backoff, since its latency is what is wanted.
inline constexpr int pauses_of_external_caller = 8;
/// One in so many times a worker takes the oldest of what is ready instead of the newest, or what came from outside. A power of two: what
/// fairness costs stays below the noise.
inline constexpr unsigned fairness = 64;
/// One in so many times an external caller tries another worker than the last: the one on its own CPU may be free again.
inline constexpr unsigned tries_another_worker = 64;

// ---- The depth of forks.

/// Bytes of native stack into which forks and calls of tasks nest before they are resumed at the stack's base. No fork takes less than 16
/// bytes of it, a return address and a word.
inline constexpr std::uintptr_t nesting = 64 * 1024;
inline constexpr std::int64_t most_nested_forks = nesting / 16;

// ---- Waiting.

/// Where there is no memory for another native stack a worker waits where it is. It tries again to leave its stack, once in so many looks, or
/// after so many nanoseconds.
inline constexpr int looks_before_suspending_again = 100;
inline constexpr std::int64_t wait_without_stack = 1'000'000;
/// Who waits for a mutex looks so often before it suspends, which takes less time than suspending does; and is woken in vain so often before
/// the mutex is handed over to it.
inline constexpr int mutex_spins = 10;
inline constexpr unsigned mutex_wakeups_in_vain = 2;
/// A lock bit, or the lock of a deque, is held for a few instructions. After so many pauses its holder has lost its CPU: then the waiter gives
/// up its own.
inline constexpr int lock_pauses = 64;
/// A thief that has requested work looks so often for the answer, and pauses so often before each look.
inline constexpr int request_looks = 8;
inline constexpr int request_pauses = 4;
/// After so many nanoseconds it takes by force: an owner that forks answers in a few, one in a long leaf does not answer.
inline constexpr std::int64_t request_patience = 5'000;
/// A thief whose force was in vain, since the owner pops and pushes at the same place all the time, waits so many nanoseconds before the next:
/// doubled each time, so many times at most. 100 us to 3.2 ms.
inline constexpr std::int64_t force_backoff = 50'000;
inline constexpr int most_force_backoffs = 6;
/// In builds with assertions: a pool in which nothing has been able to run for so long says so.
inline constexpr int stuck_after = 1000;  // in milliseconds
/// How often a pool's destructor looks whether fibers still run.
inline constexpr int end_of_fibers = 1;  // in milliseconds

// ---- Controlled schedules.

/// A worker that has made no decision for so long does not run, or waits for one of the others.
inline constexpr int undecided = 50;  // in milliseconds
/// So many times longer a worker waits that knows of nothing to be found: a thief may miss some, and not everything offered is news.
inline constexpr unsigned longer_without_news = 4;
/// How long an external caller waits until all workers are idle. All that is left to do for workers without work is to see that.
inline constexpr int until_rest = 5;  // in milliseconds

}  // namespace nopal::core::tuning

namespace nopal::core {
using tuning::destructive_size;
}  // namespace nopal::core

#pragma once

// How long the blocks of a loop are, and what that depends on: what iterations have cost before, the clock that measures it, how long loops
// have run alone one after the other, and the numbers of the loops. Called by loop.cpp, reduction.hpp and the
// algorithms.
//
// A block has as many iterations as take some microseconds, or a small part of the whole if that is more. Why neither alone: README.md,
// "Blocks". Next: loop.hpp.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// `n` iterations, rounded down to what a block may have, but at least one. A multiple of 64 leaves no rest that vector loops must run one
/// by one. `grain`: at least 1.
constexpr std::uint64_t to_grain(std::uint64_t n, std::uint64_t grain) noexcept {
  if (grain != 1) return n >= grain ? n / grain * grain : grain;
  if (n >= 64) return n & ~std::uint64_t{63};
  return n > 0 ? n : 1;
}

/// What an iteration has cost in earlier runs of the same loop: one for each type of body, so that short loops need not measure anew. Any
/// number of threads. A guess: a loop for which it is wrong corrects it after its first block.
class iteration_cost {
 public:
  /// In ticks; 0: not known.
  float ticks() const noexcept { return ticks_.load(std::memory_order_relaxed); }  // relaxed: a hint
  /// Written only if it is wrong by a quarter, so that loops on all workers share the line.
  void learn(double measured) noexcept {
    double const known = ticks();
    if (measured < known * 0.75 || measured > known * 1.25) {
      ticks_.store(static_cast<float>(measured), std::memory_order_relaxed);  // relaxed: a hint
    }
  }
  /// So many iterations have taken so many ticks.
  NOPAL_COLD void learn(std::uint64_t ticks, std::uint64_t n) noexcept { learn(static_cast<double>(ticks) / static_cast<double>(n)); }
  /// True once in eight calls: what seems dear is then measured anew, since it may have met cold memory or an interrupt. relaxed: a hint; two
  /// threads that call at once may count as one.
  bool doubts() noexcept {
    unsigned const n = trusted_.load(std::memory_order_relaxed) + 1;
    trusted_.store(n, std::memory_order_relaxed);
    return n % 8 == 0;
  }

 private:
  std::atomic<float> ticks_{0};
  std::atomic<unsigned> trusted_{0};
};

/// In ticks of clock_ticks(). On a simulated machine with given times, by the caller's clock there: what takes no real time may cost much.
/// Any thread.
NOPAL_API std::uint64_t loop_ticks() noexcept;
/// As loop_ticks, for those who wait for others: by the caller's clock on each simulated machine, since others run meanwhile. Reading that takes
/// longer, so blocks of loops are not measured by it.
NOPAL_API std::uint64_t waiting_ticks() noexcept;

/// How long loops have run alone, one after the other, while a pool's threads slept: each too short to wake a thread, but not all together.
/// Any number of threads. Used by loop.cpp; each pool has one, ../scheduler/pool_state.hpp.
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

/// The numbers of the loops. Times are in ticks of the constant clock.

namespace nopal::inline NOPAL_ABI::core::loop_tuning {

/// The least time of a block, in a loop that is long enough: a look between two blocks and the beginning of a vector loop take some
/// nanoseconds.
inline double block() noexcept { return ticks_per_microsecond(); }
/// A block of a long loop may take so many times that: then the clock is not read.
inline constexpr std::uint64_t longest_block = 16;
/// Blocks of a loop for each worker that runs it, at least, unless they take less than block().
inline constexpr std::uint64_t blocks_of_a_worker = 32;
/// The first block of a loop whose cost is a guess has at most 1 / first_part of the loop; the next block has at most first_part times as
/// many iterations.
inline constexpr std::uint64_t first_part = 8;
/// Nor more iterations than this: with other data each may take thousands of times as long, and nothing can stop a block.
inline constexpr std::uint64_t longest_guess = 1024;
inline constexpr double most_growth = 8;

/// A loop of more iterations asks, also if it is known to be short. A thread that works for no pool gets no requests, but with other data
/// such a loop might be worth sharing.
inline constexpr std::uint64_t longest_unasked = 8192;
/// The first part of such a loop may take so many times as long as the others: its caches are cold.
inline constexpr std::uint64_t cold = 4;

/// A first block of that length shows whether the cost of earlier loops still holds.
inline double glimpse() noexcept { return ticks_per_microsecond() / 4; }

/// From the moment when a part is offered to a thief that is awake until that runs it, and from its end until the owner knows of it.
inline double theft() noexcept { return ticks_per_microsecond() * 0.35; }

/// The rest of a loop is offered to awake thieves if it takes so long: a thief needs about a microsecond to steal, and the join waits for
/// it.
inline double worth_a_steal() noexcept { return 2 * ticks_per_microsecond(); }
/// As worth_a_steal, if all sleep: waking a thread takes the loop some microseconds, and it runs after some 50, with a cold cache. On a
/// virtual machine it runs after 60 to 110, by the hour: loops of 120 to 180 us then gain a tenth, or lose it.
inline double worth_a_wake() noexcept { return 120 * ticks_per_microsecond(); }
/// A shared loop wakes as many workers as leave so much of its rest for each of them and for its own worker.
inline double worth_a_worker() noexcept { return 60 * ticks_per_microsecond(); }
/// A loop that is known to be long is shared before it begins, as one that has run for so long.
inline double long_enough() noexcept { return 120 * ticks_per_microsecond(); }
/// Values that together take so long are computed in parallel before they are used: a leaf of a reduction, say. Memory for them and a loop
/// of their own take a tenth of that.
inline double worth_values() noexcept { return 20 * ticks_per_microsecond(); }
/// An answer that takes so long is worth memory for it: keeping it, and using it afterwards, takes a tenth of that.
inline double worth_an_answer() noexcept { return ticks_per_microsecond() / 10; }
/// A call that takes no longer may be a quick one that has met cold memory.
inline double may_be_cold() noexcept { return 5 * ticks_per_microsecond(); }
/// A worker waits so long at the end of a loop for a thief's part before it leaves its stack: about as long as leaving it and coming back
/// takes.
inline double moment() noexcept { return 2 * ticks_per_microsecond(); }
/// A loop on a thread outside makes the default pool if the rest takes so long: making the threads takes about as much.
inline double worth_a_pool() noexcept { return 200 * ticks_per_microsecond(); }
/// Blocks of a loop under a controlled schedule: some, so that there is something to steal in many ways.
inline constexpr std::uint64_t blocks_by_schedule = 16;
/// But none of more iterations: the loop must see what ends it.
inline constexpr std::uint64_t longest_by_schedule = 1 << 16;

}  // namespace nopal::core::loop_tuning

namespace nopal::inline NOPAL_ABI::core {

// When a loop that has run alone so far is worth sharing with others, and how a loop on a thread that works for no pool enters the default
// pool. Called by loop.cpp and reduction.hpp between blocks. Next: ../scheduler/submission.hpp.

/// True if there are others to share a loop with. False in a pool of one worker, or one that does not steal. By the thread that runs the
/// loop.
NOPAL_API bool could_share() noexcept;
/// Returns how many workers may take part in what the caller is about to begin: itself, and those that sleep or search, a moment ago. 1
/// where no pool has been made. Under a controlled schedule all workers of the pool. By the thread that begins it.
NOPAL_API std::size_t free_workers() noexcept;
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

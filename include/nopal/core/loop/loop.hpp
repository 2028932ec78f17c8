#pragma once

// The engine of parallel_for: blocks of a loop, split where a thief requests work. It knows the body as a function pointer, called once for
// each block: so the engine is compiled once, and the body as the serial loop would be. README.md has the story. Called by
// ../../algorithm/parallel_for.hpp. Next: pace.hpp, how long a block is, and when a
// part is offered; offer.hpp, how.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// One run of a loop. It is in the frame of the function that called it, which returns when all parts have ended.
struct loop {
  using block_function = void (*)(void* body, std::uint64_t from, std::uint64_t to);

  block_function const run;  ///< runs the iterations [from, to), in order; on many workers at once
  void* const body;
  std::uint64_t const count;  ///< iterations, from 0
  std::uint64_t const grain;  ///< all blocks but the last have a multiple of this; at least 1
  bool const exact;           ///< all blocks but the last have exactly `grain`
  iteration_cost& cost;
  /// Iterations from here on begin no more: something before them has thrown. The part that throws lowers it; all parts read it. relaxed:
  /// it only saves work, and the branches carry what was thrown.
  std::atomic<std::uint64_t> end{count};
  std::uint64_t from = 0;  ///< iterations before it have run
};

/// Runs it to its end. Any thread: one that works for no pool runs it alone, or enters the default pool once the loop has turned out long.
/// Throws what serial execution would have thrown first, once all parts have ended; and what default_pool() throws.
NOPAL_API void run_loop(loop& l);

// From the limits and the body that users write to the blocks that the engine runs: limits of any integer type, whose iterations the engine
// counts from 0, and a body that is called for one block. Called by ../../algorithm/parallel_for.hpp. Next: run_loop, above.

template <class I>
concept loop_index = std::is_integral_v<I> && !std::is_same_v<std::remove_cv_t<I>, bool> && sizeof(I) <= sizeof(std::uint64_t);

/// The type in which a loop from an A to a B counts. Of `0, n` the type of n: a literal should not narrow it.
template <class A, class B>
using index_of = std::conditional_t<std::is_same_v<A, B>, A, std::common_type_t<A, B>>;

/// Throws std::invalid_argument: `first` is negative, and the index type is unsigned.
NOPAL_API [[noreturn]] NOPAL_COLD void reject_negative(std::int64_t first, unsigned bits);

template <loop_index I>
struct limits {
  I first;
  std::uint64_t count;

  /// The value of iteration k, and for k == count the one past the last. Every value between two limits can be counted by an unsigned
  /// number, so the whole range of a type is no special case.
  NOPAL_INLINE I at(std::uint64_t k) const noexcept {
    using bits = std::make_unsigned_t<I>;
    return static_cast<I>(static_cast<bits>(static_cast<bits>(first) + static_cast<bits>(k)));
  }
};

/// The limits of [first, last); none if last is not above first. Throws std::invalid_argument if the two types have no common one that
/// holds `first`: a negative number, and an unsigned type.
template <loop_index A, loop_index B>
constexpr limits<index_of<A, B>> limits_of(A first, B last) {
  using index = index_of<A, B>;
  using bits = std::make_unsigned_t<index>;
  constexpr bool mixed = std::is_signed_v<A> != std::is_signed_v<B>;
  if constexpr (mixed && std::is_signed_v<B>) {
    if (last < 0) return {static_cast<index>(first), 0};
  }
  if constexpr (mixed && std::is_signed_v<A> && std::is_unsigned_v<index>) {
    if (first < 0) reject_negative(first, sizeof(index) * 8);
  }
  auto const from = static_cast<index>(first);
  auto const to = static_cast<index>(last);
  return {from, to <= from ? std::uint64_t{0} : std::uint64_t{static_cast<bits>(static_cast<bits>(to) - static_cast<bits>(from))}};
}

/// Runs one block. The engine calls it by pointer, so that its code is that of a function of its own, and vectorises as the serial loop.
template <class Blocks>
[[gnu::noinline]] void run_block_of(void* blocks, std::uint64_t from, std::uint64_t to) {
  (*static_cast<Blocks*>(blocks))(from, to);
}

/// How a block calls the body. A small closure of plain values and references is copied for each block: then the compiler knows that no
/// store of the body changes what it has captured, and vectorises the loop as if it were written there. The copy of a constant is one, so
/// that an overloaded body is called as the user's would be. Every other body is called where it is.
template <class Body, class... Index>
inline constexpr bool copied_for_a_block = false;
template <class Body, class... Index>
  requires(std::is_object_v<Body> && std::is_trivially_copyable_v<Body> && std::is_copy_constructible_v<Body>)
inline constexpr bool copied_for_a_block<Body, Index...> = sizeof(Body) <= 64 && std::is_invocable_v<Body const&, Index...>;
template <class Body, bool Copied>
using body_of_block = std::conditional_t<Copied, Body, Body&>;
/// The source of that copy. A copy is made from a constant: otherwise a constructor that takes anything would win over the copy
/// constructor.
template <class Body, bool Copied>
using source_of_body = std::conditional_t<Copied, Body const&, Body&>;

/// The cost of an iteration in loops with this body. One for each type of body in the process.
template <class Body>
inline constinit iteration_cost cost_of{};

/// Runs as much of a loop as it may without asking, and returns how many iterations that were: usually all or none. On threads that work
/// for no pool, which begin most loops after a rest: then each line of memory that is touched counts, so no constant is read either. A loop
/// that is short by all that is known runs in two blocks. The first shows what it costs: bodies of one type may differ as much as the
/// functions that they call.
template <class Blocks>
NOPAL_INLINE std::uint64_t run_unasked(Blocks& blocks, std::uint64_t count, std::uint64_t grain, iteration_cost& cost) {
  if (count > loop_tuning::longest_unasked) [[unlikely]]
    return 0;
  std::uint64_t const limit = state_here()->alone.load(std::memory_order_relaxed);  // relaxed: a hint
  float const guess = cost.ticks() * static_cast<float>(static_cast<int>(count));
  if (!(guess > 0 && guess < static_cast<float>(static_cast<std::int64_t>(limit)))) [[unlikely]]
    return 0;
  std::uint64_t from = 0;
  std::uint64_t to = std::min(count, to_grain(count / loop_tuning::first_part, grain));
  std::uint64_t may_take = limit * loop_tuning::cold;  // as if it were the whole loop
  std::uint64_t const began = clock_ticks();
  for (;;) {
    run_block_of<Blocks>(&blocks, from, to);
    if (std::uint64_t const took = clock_ticks() - began; took * count >= may_take * to) [[unlikely]] {
      cost.learn(took, to);
      return to;
    }
    if (to == count) return count;
    from = to;
    to = count;
    may_take = limit;
  }
}

/// Runs blocks(from, to) for parts of [0, count). `Body`: the user's; costs are remembered by its type.
template <class Body, class Blocks>
void run_blocks(std::uint64_t count, grain g, bool exact, Blocks& blocks) {
  std::uint64_t const grain = std::max<std::uint64_t>(g.iterations, 1);
  bool const is_exact = exact && g.iterations > 0;
  std::uint64_t const from = is_exact ? 0 : run_unasked(blocks, count, grain, cost_of<Body>);
  if (from == count) [[likely]]
    return;
  loop l{run_block_of<Blocks>, &blocks, count, grain, is_exact, cost_of<Body>};
  l.from = from;
  run_loop(l);
}

}  // namespace nopal::core

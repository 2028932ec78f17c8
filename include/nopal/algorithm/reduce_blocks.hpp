#pragma once

// reduce_blocks: a reduction whose body gets a part of the range and a value so far, and not one element. Next: core/loop/fixed_tree.hpp.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/grain.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/core/loop/blocks_of.hpp"
#include "nopal/core/loop/fixed_tree.hpp"
#include "nopal/core/loop/leaves.hpp"
#include "nopal/core/loop/limits.hpp"
#include "nopal/core/loop/made_of.hpp"
#include "nopal/core/task/arguments.hpp"

namespace nopal::inline NOPAL_ABI {

/// op(b0, b1, ...), grouped in some way, where each b is body(f, l, identity) of a block [f, l), and the blocks together are [first, last), in their
/// order: so op(identity, x) must be x, and op associative. It need not be commutative. As oneTBB's parallel_reduce with a body: first and last
/// are whole numbers, or iterators, or a range gives both; f and l are of the same kind. `identity` where the range is empty.
///
/// The blocks and the grouping depend on the number of elements only: the same program gives the same bits on any number of workers, and on every
/// run. A block has one element up to 511, n / 256 up to some ten thousand, then about sqrt(n); with grain{n} n elements each. Of what a block
/// keeps for itself (a buffer, a generator of random numbers) there is one for each.
///
/// Body and op are called by several threads at once. Throws what the body or op has thrown for the first elements; what lies behind that is
/// not begun any more. Off a pool also throws what default_pool() throws. Work O(n), span O(sqrt(n) + log n); O(n / 256 + log n) for some thousand
/// elements: one block that takes long, and log n of op.
struct reduce_blocks_function : core::algorithms::refuses_lists {
  using core::algorithms::refuses_lists::operator();

  template <core::loop_index First, core::loop_index Last, class T, class Body, class Op>
  T operator()(First first, Last last, T identity, Body body, Op op, grain g = grain{0}) const {
    auto const range = core::limits_of(first, last);
    return of_blocks<core::index_of<First, Last>>(range.count, identity, body, op, g, [&](std::uint64_t k) { return range.at(k); });
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class Body, class Op>
  T operator()(I first, S last, T identity, Body body, Op op, grain g = grain{0}) const {
    return of_blocks<I>(core::algorithms::length(first, last), identity, body, op, g,
                        [&](std::uint64_t k) { return core::algorithms::ahead(first, k); });
  }
  template <std::ranges::random_access_range R, class T, class Body, class Op>
    requires(!core::algorithms::ends_array<T, R>)
  T operator()(R&& range, T identity, Body body, Op op, grain g = grain{0}) const {
    return (*this)(std::ranges::begin(range), core::algorithms::end_of(range), std::move(identity), std::move(body), std::move(op), g);
  }

 private:
  template <class...>
  struct pack {};

  // A function of its own: of two copies of the body a compiler might contract one to fused operations and not the other.
  template <class T, class Place, class Body>
  [[gnu::noinline]] static T of_block(Place from, Place to, T const& identity, Body& body) {
    return core::made_of<T>(body(std::move(from), std::move(to), T(identity)));
  }
  template <class Place, class T, class Body, class Op, class At>
  static T of_blocks(std::uint64_t n, T& identity, Body& body, Op& op, grain g, At const& at) {
    constexpr bool called = std::is_invocable_v<Body&, Place, Place, T>;
    static_assert(
        called,
        "nopal: reduce_blocks calls its body with the two ends of a block and the value so far, of the identity's type: [&](auto first, "
        "auto last, T so_far) { ...; return so_far; }");
    if constexpr (called) {
      static_assert(!core::is_task<std::remove_cvref_t<std::invoke_result_t<Body&, Place, Place, T>>>,
                    "nopal: the body of a reduction is an ordinary function. Call nopal::sync_wait(f, first, last, so_far) in it for a "
                    "coroutine function f.");
      if (n == 0) return static_cast<T&&>(identity);  // GCC 12 would prefer a T(T&)
      std::uint64_t const size = g.iterations > 0 ? g.iterations : core::leaf_size(n);
      auto leaf = [&](std::uint64_t k) {
        std::uint64_t const from = k * size;
        return of_block<T>(at(from), at(n - from < size ? n : from + size), identity, body);
      };
      auto join_two = [&](T&& left, T&& right) { return core::joined<T>(op, std::move(left), std::move(right)); };
      core::fixed_tree<T, decltype(leaf), decltype(join_two)> tree{(n - 1) / size + 1, size, leaf, join_two,
                                                                   core::cost_of<core::tree_of<pack<Place, Body, Op>>>};
      return tree.run();
    } else {
      return static_cast<T&&>(identity);
    }
  }
};
inline constexpr reduce_blocks_function reduce_blocks{};

}  // namespace nopal

#pragma once

// reduce, transform_reduce, reduce_blocks: sums, or what any associative operation makes of a range. Next: core/loop/reduction.hpp.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/grain.hpp"
#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/made_of.hpp"
#include "nopal/core/loop/reduction.hpp"
#include "nopal/core/task/arguments.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// Is it F that takes an element, and not Op?
template <class F, class Op, class X>
concept the_other_order = std::regular_invocable<F&, X> && !std::regular_invocable<Op&, X> && !std::same_as<Op, grain>;

/// Is T no second range or iterator, though it could be one (a string, a pointer), but what the elements X are reduced to?
template <class T, class Op, class F, class X>
concept reduces_to = std::regular_invocable<F&, X> && std::invocable<Op&, T, T>;

}  // namespace core::algorithms

/// reduce(first, last, init = T{}, op = plus, projection = identity), reduce(range, init, op, projection): returns op(init, x0, x1, ...) of
/// all elements or their projections, grouped in some way. So op must be associative, as for std::reduce. It need not be commutative:
/// operands keep their places, but for std::plus and its like on numbers. op is called with two Ts, and with a T and an element; a T is
/// also made of an element alone.
///
/// The grouping depends only on the number of elements and on types: the same program gives the same bits on any number of workers and in
/// every run. For doubles these are not the bits of a serial loop. grain{n} gives each leaf of the tree n elements, and so decides the
/// grouping.
///
/// Where the end can only be found by walking, as for a text that ends with a zero, the caller walks first. Any thread may call. Throws
/// what op or the projection has thrown for the first elements. Work O(n) and span O(sqrt(n) + log n), in calls of op.
struct reduce_function : core::algorithms::refuses_lists {
  using core::algorithms::refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class T = std::iter_value_t<I>, class Op = std::plus<>,
            class Projection = std::identity>
    requires(!std::same_as<T, grain> && !std::same_as<Op, grain> && !std::same_as<Projection, grain>)
  T operator()(I first, S last, T init = T{}, Op op = {}, Projection projection = {}, grain g = grain{0}) const {
    constexpr bool made_of_elements = std::is_constructible_v<T, std::indirect_result_t<Projection&, I>>;
    static_assert(made_of_elements,
                  "nopal: reduce returns what `init` is, and makes it of elements too. Give an init of the result's type: reduce(v, "
                  "std::string{}) for strings; or make each element a number first, with transform_reduce.");
    if constexpr (made_of_elements) {
      using difference = std::iter_difference_t<I>;
      auto each = [&](std::uint64_t k, auto use) { return core::use_result(use, projection, first[static_cast<difference>(k)]); };
      constexpr bool cheap = std::is_same_v<Projection, std::identity> && std::is_lvalue_reference_v<std::iter_reference_t<I>>;
      return core::reduce_by_number<pack<I, Op, Projection>, cheap>(core::algorithms::length(first, last), std::move(init), op, each, g);
    }
  }
  template <std::ranges::random_access_range R, class T = std::ranges::range_value_t<R>, class Op = std::plus<>,
            class Projection = std::identity>
    requires(!core::algorithms::ends_array<T, R> && !std::same_as<T, grain> && !std::same_as<Op, grain> && !std::same_as<Projection, grain>)
  T operator()(R&& range, T init = T{}, Op op = {}, Projection projection = {}, grain g = grain{0}) const {
    return (*this)(std::ranges::begin(range), core::algorithms::end_of(range), std::move(init), std::move(op), std::move(projection), g);
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class Op>
  T operator()(I first, S last, T init, Op op, grain g) const {
    return (*this)(std::move(first), std::move(last), std::move(init), std::move(op), std::identity{}, g);
  }
  template <std::ranges::random_access_range R, class T, class Op>
    requires(!core::algorithms::ends_array<T, R>)
  T operator()(R&& range, T init, Op op, grain g) const {
    return (*this)(static_cast<R&&>(range), std::move(init), std::move(op), std::identity{}, g);
  }

 private:
  template <class...>
  struct pack {};
};
inline constexpr reduce_function reduce{};

/// transform_reduce(first, last, init, op, f), transform_reduce(range, init, op, f): returns op(init, f(x0), f(x1), ...).
/// transform_reduce(first, last, second, init, op = plus, f = multiplies) and transform_reduce(range1, range2, init, op, f): return
/// op(init, f(x0, y0), ...). The shorter of two ranges counts; an iterator `second` points to at least as many elements as the first range
/// has. All else is as for reduce, with f(x) for an element.
struct transform_reduce_function : core::algorithms::refuses_lists, core::algorithms::refuses_second {
  using core::algorithms::refuses_lists::operator();
  using core::algorithms::refuses_second::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class Op, class F>
    requires std::regular_invocable<F&, std::iter_reference_t<I>>
  T operator()(I first, S last, T init, Op op, F f, grain g = grain{0}) const {
    using difference = std::iter_difference_t<I>;
    auto each = [&](std::uint64_t k, auto use) { return core::use_result(use, f, first[static_cast<difference>(k)]); };
    return reduce<pack<I, Op, F>>(core::algorithms::length(first, last), std::move(init), op, each, g);
  }
  template <std::ranges::random_access_range R, class T, class Op, class F>
    requires std::regular_invocable<F&, std::ranges::range_reference_t<R>>
  T operator()(R&& range, T init, Op op, F f, grain g = grain{0}) const {
    return (*this)(std::ranges::begin(range), core::algorithms::end_of(range), std::move(init), std::move(op), std::move(f), g);
  }

  template <std::random_access_iterator I, std::sentinel_for<I> S, std::random_access_iterator J, class T, class Op = std::plus<>,
            class F = std::multiplies<>>
    requires std::regular_invocable<F&, std::iter_reference_t<I>, std::iter_reference_t<J>> &&
             (!core::algorithms::reduces_to<J, T, Op, std::iter_reference_t<I>>)
  T operator()(I first, S last, J second, T init, Op op = {}, F f = {}, grain g = grain{0}) const {
    return of_two(core::algorithms::length(first, last), first, second, std::move(init), op, f, g);
  }
  template <std::ranges::random_access_range R, std::ranges::random_access_range Q, class T, class Op = std::plus<>,
            class F = std::multiplies<>>
    requires std::regular_invocable<F&, std::ranges::range_reference_t<R>, std::ranges::range_reference_t<Q>> &&
             (!core::algorithms::reduces_to<std::remove_cvref_t<Q>, T, Op, std::ranges::range_reference_t<R>>)
  T operator()(R&& range, Q&& other, T init, Op op = {}, F f = {}, grain g = grain{0}) const {
    auto const first = std::ranges::begin(range);
    auto const second = std::ranges::begin(other);
    std::size_t const n = core::algorithms::shorter_length(first, core::algorithms::end_of(range), second, core::algorithms::end_of(other));
    return of_two(n, first, second, std::move(init), op, f, g);
  }

  /// No reduction: refuses transform_reduce(range, init, f, op), the order of oneTBB's parallel_reduce.
  template <std::ranges::random_access_range R, class T, class F, class Op, class... G>
    requires core::algorithms::the_other_order<F, Op, std::ranges::range_reference_t<R>>
  T operator()(R&&, T, F, Op, G...) const {
    return say_order<R, T>();
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, class T, class F, class Op, class... G>
    requires core::algorithms::the_other_order<F, Op, std::iter_reference_t<I>>
  T operator()(I, S, T, F, Op, G...) const {
    return say_order<I, T>();
  }

 private:
  template <class R, class T>
  static T say_order() {
    static_assert(core::algorithms::refused<R>,
                  "nopal: transform_reduce takes first the operation that joins two results, then the function that is called with each "
                  "element: transform_reduce(range, init, op, f).");
  }

  template <class...>
  struct pack {};

  template <class I, class J, class T, class Op, class F>
  static T of_two(std::size_t n, I const& first, J const& second, T init, Op& op, F& f, grain g) {
    auto each = [&](std::uint64_t k, auto use) {
      return core::use_result(use, f, first[static_cast<std::iter_difference_t<I>>(k)], second[static_cast<std::iter_difference_t<J>>(k)]);
    };
    return reduce<pack<I, J, Op, F>>(n, std::move(init), op, each, g);
  }
  template <class Site, class T, class Op, class Each>
  static T reduce(std::size_t n, T init, Op& op, Each& each, grain g) {
    return core::reduce_by_number<Site, false>(n, std::move(init), op, each, g);
  }
};
inline constexpr transform_reduce_function transform_reduce{};

/// reduce_blocks(first, last, identity, body, op), reduce_blocks(range, identity, body, op): returns op(b0, b1, ...), grouped in some way.
/// Each b is body(f, l, identity) of a block [f, l), and the blocks together are [first, last), in order. So op(identity, x) must be x, and
/// op must be associative; it need not be commutative. As oneTBB's parallel_reduce with a body: first and last are whole numbers or
/// iterators, or a range gives both; f and l are of the same kind. An empty range gives `identity`.
///
/// The blocks and the grouping depend only on the number of elements: the same program gives the same bits on any number of workers and in
/// every run. A block has one element up to 511, n / 256 up to some ten thousand, then about sqrt(n); with grain{n} it has n. What a block
/// keeps for itself (a buffer, a generator of random numbers) exists once for each block.
///
/// Several threads call body and op at once. Throws what body or op has thrown for the first elements; calls behind that are not begun any
/// more. Off a pool also throws what default_pool() throws. Work O(n), span O(sqrt(n) + log n); for some thousand elements O(n / 256 + log
/// n): one block that takes long, and log n calls of op.
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

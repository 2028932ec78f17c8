#pragma once

// nopal::iota: as std::ranges::iota of C++23, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <cstddef>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"

namespace nopal::inline NOPAL_ABI {

/// The end of what was written, and the value that would follow.
template <class O, class T>
struct iota_result {
  [[no_unique_address]] O out;
  [[no_unique_address]] T value;
};

namespace core::algorithms {

/// A number, or an iterator: so many steps after a value are one addition.
template <class T>
concept counts_up = std::floating_point<T> || (std::weakly_incrementable<T> && std::copyable<T> &&
                                               requires(const T& value, std::iter_difference_t<T> n) { static_cast<T>(value + n); });

struct iota_function : refuses_proxies {
  using refuses_proxies::operator();

  template <parallel_iterator O, std::sentinel_for<O> S, counts_up T>
    requires std::indirectly_writable<O, const T&>
  iota_result<O, T> operator()(O first, S last, T value) const {
    const O end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    const auto after = [&value](std::size_t steps) {
      if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(value + static_cast<T>(steps));
      } else {
        return static_cast<T>(value + static_cast<std::iter_difference_t<T>>(steps));
      }
    };
    algorithms::loop(n, [&](std::size_t from, std::size_t to) {
      const O stop = algorithms::ahead(first, to);
      O it = algorithms::ahead(first, from);
      if constexpr (std::is_floating_point_v<T>) {  // a sum of many ones would be rounded as the blocks are cut
        for (; it != stop; ++it) *it = after(from++);
      } else {
        for (T next = after(from); it != stop; ++it, static_cast<void>(++next)) *it = std::as_const(next);
      }
    });
    return {end, after(n)};
  }
  template <std::ranges::random_access_range R, counts_up T>
    requires parallel_iterator<std::ranges::iterator_t<R>> && std::ranges::output_range<R, const T&>
  iota_result<std::ranges::borrowed_iterator_t<R>, T> operator()(R&& range, T value) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(value));
    return {std::move(result.out), std::move(result.value)};
  }

  /// Not counted: says what can be.
  template <std::ranges::random_access_range R, class T>
    requires parallel_iterator<std::ranges::iterator_t<R>> && (!counts_up<T>)
  void operator()(R&&, T) const {
    say_value<T>();
  }
  template <parallel_iterator O, std::sentinel_for<O> S, class T>
    requires(!counts_up<T>)
  void operator()(O, S, T) const {
    say_value<T>();
  }

 private:
  template <class T>
  static void say_value() {
    static_assert(refused<T>,
                  "nopal: iota counts in numbers or in iterators of random access, so that value + n is the n-th after a value at once. "
                  "Write for_each over std::views::iota(0, n) for values of another kind.");
  }
};

}  // namespace core::algorithms

/// iota(first, last, value), iota(range, value): assigns value, value + 1, ..., in parallel, and returns the end and the value that would follow,
/// as std::ranges::iota of C++23 does. Values are numbers or iterators of random access; of floating-point numbers each is value + n, rounded once, where
/// std::iota rounds n times. Throws what serial execution would have
/// thrown first; off a pool also what default_pool() throws. O(n) work, O(log n) span.
inline constexpr core::algorithms::iota_function iota{};

}  // namespace nopal

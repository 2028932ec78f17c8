#pragma once

// nopal::inclusive_scan: as std::inclusive_scan, for ranges too, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/scan.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct inclusive_scan_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, class Op = std::plus<>>
    requires scans<Op, std::iter_value_t<I>, I> && std::indirectly_writable<O, const std::iter_value_t<I>&>
  std::ranges::in_out_result<I, O> operator()(I first, S last, O out, Op op = {}) const {
    return scan_all<std::iter_value_t<I>>(first, algorithms::end_of(first, last), std::move(out), op, std::nullopt);
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, class Op, class T>
    requires scans<Op, T, I> && std::indirectly_writable<O, const T&>
  std::ranges::in_out_result<I, O> operator()(I first, S last, O out, Op op, T init) const {
    return scan_all<T>(first, algorithms::end_of(first, last), std::move(out), op, std::optional<T>{std::move(init)});
  }
  template <std::ranges::random_access_range R, parallel_iterator O, class Op = std::plus<>>
    requires scans<Op, std::ranges::range_value_t<R>, std::ranges::iterator_t<R>> &&
             std::indirectly_writable<O, const std::ranges::range_value_t<R>&>
  std::ranges::in_out_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, Op op = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(op));
    return {std::move(result.in), std::move(result.out)};
  }
  template <std::ranges::random_access_range R, parallel_iterator O, class Op, class T>
    requires scans<Op, T, std::ranges::iterator_t<R>> && std::indirectly_writable<O, const T&>
  std::ranges::in_out_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, Op op, T init) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(op), std::move(init));
    return {std::move(result.in), std::move(result.out)};
  }

 private:
  template <class T, class I, class O, class Op>
  static std::ranges::in_out_result<I, O> scan_all(I first, I end, O out, Op& op, std::optional<T> init) {
    const auto n = static_cast<std::size_t>(end - first);
    algorithms::scan<true, T>(first, n, out, op, std::move(init));
    return {end, algorithms::ahead(out, n)};
  }
};

}  // namespace core::algorithms

/// inclusive_scan(first, last, out, op = plus), with an initial value: inclusive_scan(first, last, out, op, init), and both with a range in place of
/// first and last: writes to `out`, for each element, op over all up to it, and returns the ends. op is associative, need not be commutative, and
/// is called by several threads at once. `out` is an iterator of random access whose elements are objects; it may be where the elements come from.
///
/// Each element is read twice, so none that an iterator moves away. Sums that are rounded have the same bits whatever the number of workers and the
/// schedule; for at most 256 numbers by std::plus or its like those of std::inclusive_scan. Throws what the first block that threw has thrown,
/// std::bad_alloc, and off a pool what default_pool() throws. O(n) work, O(n / 64 + log n) span for some thousand elements, O(n / 1024) for more.
inline constexpr core::algorithms::inclusive_scan_function inclusive_scan{};

}  // namespace nopal

#pragma once

// nopal::exclusive_scan: as std::exclusive_scan, for ranges too, in parallel.

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

struct exclusive_scan_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, class T, class Op = std::plus<>>
    requires scans<Op, T, I> && std::indirectly_writable<O, T&&>
  std::ranges::in_out_result<I, O> operator()(I first, S last, O out, T init, Op op = {}) const {
    const I end = algorithms::end_of(first, last);
    const auto n = static_cast<std::size_t>(end - first);
    algorithms::scan<false, T>(first, n, out, op, std::optional<T>{std::move(init)});
    return {end, algorithms::ahead(out, n)};
  }
  template <std::ranges::random_access_range R, parallel_iterator O, class T, class Op = std::plus<>>
    requires scans<Op, T, std::ranges::iterator_t<R>> && std::indirectly_writable<O, T&&>
  std::ranges::in_out_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, T init, Op op = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(init), std::move(op));
    return {std::move(result.in), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// exclusive_scan(first, last, out, init, op = plus), exclusive_scan(range, out, init, op): writes to `out`, for each element, op over `init` and all
/// before it, and returns the ends. op is associative, need not be commutative, and is called by several threads at once. `out` is an iterator of
/// random access whose elements are objects; it may be where the elements come from.
///
/// Each element is read twice, so none that an iterator moves away. Sums that are rounded have the same bits whatever the number of workers and the
/// schedule; for at most 256 numbers by std::plus or its like those of std::exclusive_scan. Throws what the first block that threw has thrown,
/// std::bad_alloc, and off a pool what default_pool() throws. O(n) work, O(n / 64 + log n) span for some thousand elements, O(n / 1024) for more.
inline constexpr core::algorithms::exclusive_scan_function exclusive_scan{};

}  // namespace nopal

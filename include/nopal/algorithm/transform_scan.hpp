#pragma once

// nopal::transform_inclusive_scan, transform_exclusive_scan: as those of std, for ranges too, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/order.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/scan.hpp"
#include "nopal/algorithm/internal/slow_partition.hpp"
#include "nopal/core/loop/loop_tuning.hpp"
#include "nopal/core/loop/made_of.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// What a function makes of an element: nothing that refers to one which dies.
template <class F>
struct made_of_element {
  F* f;
  template <class X>
  NOPAL_INLINE decltype(auto) operator()(X&& x) const {
    using result = std::invoke_result_t<F&, X>;
    if constexpr (std::is_lvalue_reference_v<X> || !std::is_reference_v<result>) {
      return std::invoke(*f, static_cast<X&&>(x));
    } else {
      return core::made_of<std::remove_cvref_t<result>>(std::invoke(*f, static_cast<X&&>(x)));
    }
  }
};
template <class F, class I>
using made_range = std::ranges::transform_view<std::ranges::subrange<I>, made_of_element<F>>;
/// The type of what it makes; of a proxy that it passes on, that of the element.
template <class F, class I, class Made = std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>>
using made_by = std::conditional_t<std::same_as<Made, std::remove_cvref_t<std::iter_reference_t<I>>>, std::iter_value_t<I>, Made>;
template <class Op, class T, class F, class I>
concept scans_made = std::invocable<F&, std::iter_reference_t<I>> && scans<Op, T, std::ranges::iterator_t<made_range<F, I>>>;

/// What f makes may be kept, and read twice: a number, or what the sums are too; nothing that may refer to what the next call changes.
template <class Op, class T, class F, class I, class Made = std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>>
concept keeps_made =
    !std::is_reference_v<std::invoke_result_t<F&, std::iter_reference_t<I>>> && std::move_constructible<Made> &&
    std::same_as<Made, made_by<F, I>> && (std::same_as<Made, T> || std::is_arithmetic_v<Made>) && scans<Op, T, const Made*>;
/// So many bytes are kept at most.
inline constexpr std::size_t most_kept = std::size_t{1} << 26;
/// By whose types it is remembered what f takes.
template <class F, class I>
struct making {};

/// scan of f(element), if f takes long: it is called once for each. False, and nothing is written: f does not, or what it makes is too much to keep.
template <bool Inclusive, class T, class I, class O, class Op, class F>
bool scan_kept(const I& first, std::size_t n, O out, Op& op, F& f, std::optional<T>& init) {
  using made = std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>;
  if (n > most_kept / sizeof(std::optional<made>)) return false;
  // What f makes of the first, unless it is known to take so long that its second call costs more than to keep this.
  std::optional<made> begun;
  const auto make = [&] { begun.emplace(std::invoke(f, *first)); };
  if (!algorithms::turns_out<making<F, I>>(n, make, [](double ticks) { return ticks >= loop_tuning::worth_an_answer(); })) return false;
  std::vector<std::optional<made>> kept;
  try {
    kept.resize(n);
  } catch (const std::bad_alloc&) {
    return false;
  }
  const std::size_t known = begun ? 1 : 0;
  if (begun) kept[0].emplace(*std::move(begun));
  algorithms::loop_at<making<F, I>>(n - known, [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from + known; k != to + known; ++k) kept[k].emplace(std::invoke(f, algorithms::ahead(first, k)[0]));
  });
  const auto values = std::views::transform(std::views::all(kept), [](const std::optional<made>& m) -> const made& { return *m; });
  algorithms::scan<Inclusive, T, false>(std::ranges::begin(values), n, out, op, std::move(init));  // in the blocks of what is not kept
  return true;
}

template <bool Inclusive, class T, class I, class S, class O, class Op, class F>
std::ranges::in_out_result<I, O> scan_made(I first, S last, O out, Op& op, F& f, std::optional<T> init) {
  const I end = algorithms::end_of(first, last);
  const auto n = static_cast<std::size_t>(end - first);
  if constexpr (keeps_made<Op, T, F, I>) {
    if (algorithms::scan_kept<Inclusive, T>(first, n, out, op, f, init)) return {end, algorithms::ahead(out, n)};
  }
  made_range<F, I> made{std::ranges::subrange<I>{first, end}, made_of_element<F>{std::addressof(f)}};
  algorithms::scan<Inclusive, T>(std::ranges::begin(made), n, out, op, std::move(init));
  return {end, algorithms::ahead(out, n)};
}

struct transform_inclusive_scan_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, class Op, std::copy_constructible F>
    requires scans_made<Op, made_by<F, I>, F, I> && std::indirectly_writable<O, const made_by<F, I>&>
  std::ranges::in_out_result<I, O> operator()(I first, S last, O out, Op op, F f) const {
    return scan_made<true, made_by<F, I>>(std::move(first), std::move(last), std::move(out), op, f, std::nullopt);
  }
  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, class Op, std::copy_constructible F, class T>
    requires scans_made<Op, T, F, I> && std::indirectly_writable<O, const T&>
  std::ranges::in_out_result<I, O> operator()(I first, S last, O out, Op op, F f, T init) const {
    return scan_made<true, T>(std::move(first), std::move(last), std::move(out), op, f, std::optional<T>{std::move(init)});
  }
  template <std::ranges::random_access_range R, parallel_iterator O, class Op, std::copy_constructible F>
    requires scans_made<Op, made_by<F, std::ranges::iterator_t<R>>, F, std::ranges::iterator_t<R>> &&
             std::indirectly_writable<O, const made_by<F, std::ranges::iterator_t<R>>&>
  std::ranges::in_out_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, Op op, F f) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(op), std::move(f));
    return {std::move(result.in), std::move(result.out)};
  }
  template <std::ranges::random_access_range R, parallel_iterator O, class Op, std::copy_constructible F, class T>
    requires scans_made<Op, T, F, std::ranges::iterator_t<R>> && std::indirectly_writable<O, const T&>
  std::ranges::in_out_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, Op op, F f, T init) const {
    auto result =
        (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(op), std::move(f), std::move(init));
    return {std::move(result.in), std::move(result.out)};
  }
};

struct transform_exclusive_scan_function : refuses_inserters {
  using refuses_inserters::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, parallel_iterator O, class T, class Op, std::copy_constructible F>
    requires scans_made<Op, T, F, I> && std::indirectly_writable<O, T&&>
  std::ranges::in_out_result<I, O> operator()(I first, S last, O out, T init, Op op, F f) const {
    return scan_made<false, T>(std::move(first), std::move(last), std::move(out), op, f, std::optional<T>{std::move(init)});
  }
  template <std::ranges::random_access_range R, parallel_iterator O, class T, class Op, std::copy_constructible F>
    requires scans_made<Op, T, F, std::ranges::iterator_t<R>> && std::indirectly_writable<O, T&&>
  std::ranges::in_out_result<std::ranges::borrowed_iterator_t<R>, O> operator()(R&& range, O out, T init, Op op, F f) const {
    auto result =
        (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(out), std::move(init), std::move(op), std::move(f));
    return {std::move(result.in), std::move(result.out)};
  }
};

}  // namespace core::algorithms

/// transform_inclusive_scan(first, last, out, op, f), with an initial value: transform_inclusive_scan(first, last, out, op, f, init), and both with a range
/// in place of first and last: as inclusive_scan of f(element), as std::transform_inclusive_scan. f is called by several threads at once: once for each
/// element where it takes long and makes numbers or sums, which are kept, up to 64 MiB; else twice, and maybe once more for the first. All else
/// is as for inclusive_scan, but that few numbers too are summed up in blocks.
inline constexpr core::algorithms::transform_inclusive_scan_function transform_inclusive_scan{};
/// transform_exclusive_scan(first, last, out, init, op, f), transform_exclusive_scan(range, out, init, op, f): as exclusive_scan of f(element), as
/// std::transform_exclusive_scan. All else is as for transform_inclusive_scan.
inline constexpr core::algorithms::transform_exclusive_scan_function transform_exclusive_scan{};

}  // namespace nopal

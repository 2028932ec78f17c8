#pragma once

// Scans: inclusive_scan, exclusive_scan, transform_inclusive_scan, transform_exclusive_scan: as those of std, also for ranges, in parallel.

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

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/algorithm/internal/scan.hpp"
#include "nopal/core/loop/made_of.hpp"
#include "nopal/core/loop/pace.hpp"

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

/// Calls f with an element; the result refers to nothing that dies with the element.
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
/// The type of f's result; if f passes a proxy on, that of the element.
template <class F, class I, class Made = std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>>
using made_by = std::conditional_t<std::same_as<Made, std::remove_cvref_t<std::iter_reference_t<I>>>, std::iter_value_t<I>, Made>;
template <class Op, class T, class F, class I>
concept scans_made = std::invocable<F&, std::iter_reference_t<I>> && scans<Op, T, std::ranges::iterator_t<made_range<F, I>>>;

/// Can f's results be kept and read twice? Numbers and sums can, but nothing that might refer to what the next call changes.
template <class Op, class T, class F, class I, class Made = std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>>
concept keeps_made =
    !std::is_reference_v<std::invoke_result_t<F&, std::iter_reference_t<I>>> && std::move_constructible<Made> &&
    std::same_as<Made, made_by<F, I>> && (std::same_as<Made, T> || std::is_arithmetic_v<Made>) && scans<Op, T, const Made*>;
/// At most so many bytes of results are kept.
inline constexpr std::size_t most_kept = std::size_t{1} << 26;
/// Its types identify the cost of f that is remembered.
template <class F, class I>
struct making {};

/// Scans f(element) with one call for each element, if f takes long. Returns false, and has written nothing, if f does not, or if its
/// results are too much to keep.
template <bool Inclusive, class T, class I, class O, class Op, class F>
bool scan_kept(const I& first, std::size_t n, O out, Op& op, F& f, std::optional<T>& init) {
  using made = std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>;
  constexpr bool without_destructor = std::is_trivially_destructible_v<made>;
  if (n > most_kept / sizeof(std::conditional_t<without_destructor, made, std::optional<made>>)) return false;
  // f of the first element, unless f is known to take so long that calling it twice costs more than keeping this.
  std::optional<made> begun;
  const auto make = [&] { begun.emplace(core::source_of<made>(std::invoke(f, *first))); };
  if (!algorithms::turns_out<making<F, I>>(n, make, [](double ticks) { return ticks >= loop_tuning::worth_an_answer(); })) return false;
  const auto keep_and_scan = [&](const auto& keep, auto values) {
    const std::size_t known = begun ? 1 : 0;
    if (begun) keep(0, *std::move(begun));
    algorithms::loop_at<making<F, I>>(n - known, [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from + known; k != to + known; ++k) keep(k, std::invoke(f, algorithms::ahead(first, k)[0]));
    });
    algorithms::scan<Inclusive, T, false>(values, n, out, op, std::move(init));  // in the same blocks as without keeping
  };
  if constexpr (without_destructor) {  // in memory that the workers touch first
    const raw_buffer<made> kept{n, std::nothrow};
    if (kept.data() == nullptr) return false;
    made* const at = kept.data();
    keep_and_scan([at](std::size_t k, auto&& m) { std::construct_at(at + k, core::source_of<made>(static_cast<decltype(m)>(m))); },
                  static_cast<const made*>(at));
  } else {
    std::vector<std::optional<made>> kept;
    try {
      kept.resize(n);
    } catch (const std::bad_alloc&) {
      return false;
    }
    const auto values = std::views::transform(std::views::all(kept), [](const std::optional<made>& m) -> const made& { return *m; });
    keep_and_scan([&](std::size_t k, auto&& m) { kept[k].emplace(core::source_of<made>(static_cast<decltype(m)>(m))); },
                  std::ranges::begin(values));
  }
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

/// inclusive_scan(first, last, out, op = plus), inclusive_scan(first, last, out, op, init), and both with a range in place of first and
/// last: writes to `out`, for each element, op over all elements up to it, and returns the ends. op is associative and need not be
/// commutative. It is called with two sums, and with a sum and an element; a sum, of init's type or that of the elements, is also made of an
/// element alone. Several threads call it at once. `out` is a random-access iterator whose elements are objects; it may be `first`.
///
/// Each element is read twice, so iterators that move elements away do not fit. Rounded sums have the same bits whatever the number of
/// workers and the schedule; for at most 256 numbers and std::plus or its like they are those of std::inclusive_scan. Throws what the first
/// block that threw has thrown, and std::bad_alloc. Off a pool also throws what default_pool() throws. O(n) work, O(n / 64 + log n) span
/// for some thousand elements, O(n / 1024) for more.
inline constexpr core::algorithms::inclusive_scan_function inclusive_scan{};

/// exclusive_scan(first, last, out, init, op = plus), exclusive_scan(range, out, init, op): writes to `out`, for each element, op over
/// `init` and all elements before it, and returns the ends. All else is as for inclusive_scan, with std::exclusive_scan for
/// std::inclusive_scan.
inline constexpr core::algorithms::exclusive_scan_function exclusive_scan{};

/// transform_inclusive_scan(first, last, out, op, f), transform_inclusive_scan(first, last, out, op, f, init), and both with a range in
/// place of first and last: the inclusive_scan of f(element), as std::transform_inclusive_scan. Several threads call f at once. Where f
/// takes long and returns numbers or sums, it is called once for each element and its results are kept, up to 64 MiB of them; else it is
/// called twice, and maybe once or twice more for the first two. All else is as for inclusive_scan, but few numbers too are summed up in
/// blocks.
inline constexpr core::algorithms::transform_inclusive_scan_function transform_inclusive_scan{};
/// transform_exclusive_scan(first, last, out, init, op, f), transform_exclusive_scan(range, out, init, op, f): the exclusive_scan of
/// f(element), as std::transform_exclusive_scan. All else is as for transform_inclusive_scan.
inline constexpr core::algorithms::transform_exclusive_scan_function transform_exclusive_scan{};

}  // namespace nopal

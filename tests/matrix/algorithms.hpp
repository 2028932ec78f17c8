#pragma once

// The algorithms of the matrix. Each is written once, and run both ways: by nopal on the tested range, and by std::ranges on a vector of
// its elements. Its outcome is a list of numbers that must be the same.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "nopal/algorithm.hpp"
#include "values.hpp"

namespace test::matrix {

using outcome = std::vector<std::uint64_t>;

/// What std::ranges of C++20 lacks, from left to right.
struct serial_reduce {
  template <class R, class T, class Op, class P = std::identity>
  T operator()(R&& r, T sum, Op op, P p = {}) const {
    for (auto&& x : r) sum = std::invoke(op, std::move(sum), T(std::invoke(p, std::forward<decltype(x)>(x))));
    return sum;
  }
  template <std::ranges::range R, std::ranges::range Q, class T, class Op, class F>
  T operator()(R&& r, Q&& q, T sum, Op op, F f) const {
    auto second = std::ranges::begin(q);
    for (auto&& x : r) sum = std::invoke(op, std::move(sum), T(std::invoke(f, std::forward<decltype(x)>(x), *second++)));
    return sum;
  }
};
struct serial_scans {
  template <bool Inclusive, class R, class O, class T, class Op>
  static void scan(R&& r, O out, T sum, Op op) {
    for (auto&& x : r) {
      T next = op(sum, T(x));
      *out++ = Inclusive ? next : sum;
      sum = std::move(next);
    }
  }
};

/// The two ways: names that mean std::ranges' algorithms, and nopal's.
struct serial {
  static constexpr bool is_serial = true;
  static constexpr auto& count = std::ranges::count;
  static constexpr auto& count_if = std::ranges::count_if;
  static constexpr auto& find = std::ranges::find;
  static constexpr auto& find_if = std::ranges::find_if;
  static constexpr auto& any_of = std::ranges::any_of;
  static constexpr auto& all_of = std::ranges::all_of;
  static constexpr auto& none_of = std::ranges::none_of;
  static constexpr auto& min_element = std::ranges::min_element;
  static constexpr auto& max_element = std::ranges::max_element;
  static constexpr auto& minmax_element = std::ranges::minmax_element;
  static constexpr auto& for_each = std::ranges::for_each;
  static constexpr auto& transform = std::ranges::transform;
  static constexpr auto& copy_if = std::ranges::copy_if;
  static constexpr auto& merge = std::ranges::merge;
  static constexpr auto& equal = std::ranges::equal;
  static constexpr auto& mismatch = std::ranges::mismatch;
  static constexpr auto& lexicographical_compare = std::ranges::lexicographical_compare;
  static constexpr auto& is_sorted = std::ranges::is_sorted;
  static constexpr auto& is_sorted_until = std::ranges::is_sorted_until;
  static constexpr auto& adjacent_find = std::ranges::adjacent_find;
  static constexpr auto& search = std::ranges::search;
  static constexpr auto& find_end = std::ranges::find_end;
  static constexpr auto& find_first_of = std::ranges::find_first_of;
  static constexpr auto& find_if_not = std::ranges::find_if_not;
  static constexpr auto& is_partitioned = std::ranges::is_partitioned;
  static constexpr auto& includes = std::ranges::includes;
  static constexpr auto& min = std::ranges::min;
  static constexpr auto& max = std::ranges::max;
  static constexpr auto& minmax = std::ranges::minmax;
  static constexpr serial_reduce reduce{};
};
struct parallel {
  static constexpr bool is_serial = false;
  static constexpr auto& count = nopal::count;
  static constexpr auto& count_if = nopal::count_if;
  static constexpr auto& find = nopal::find;
  static constexpr auto& find_if = nopal::find_if;
  static constexpr auto& any_of = nopal::any_of;
  static constexpr auto& all_of = nopal::all_of;
  static constexpr auto& none_of = nopal::none_of;
  static constexpr auto& min_element = nopal::min_element;
  static constexpr auto& max_element = nopal::max_element;
  static constexpr auto& minmax_element = nopal::minmax_element;
  static constexpr auto& for_each = nopal::for_each;
  static constexpr auto& transform = nopal::transform;
  static constexpr auto& copy_if = nopal::copy_if;
  static constexpr auto& merge = nopal::merge;
  static constexpr auto& equal = nopal::equal;
  static constexpr auto& mismatch = nopal::mismatch;
  static constexpr auto& lexicographical_compare = nopal::lexicographical_compare;
  static constexpr auto& is_sorted = nopal::is_sorted;
  static constexpr auto& is_sorted_until = nopal::is_sorted_until;
  static constexpr auto& adjacent_find = nopal::adjacent_find;
  static constexpr auto& search = nopal::search;
  static constexpr auto& find_end = nopal::find_end;
  static constexpr auto& find_first_of = nopal::find_first_of;
  static constexpr auto& find_if_not = nopal::find_if_not;
  static constexpr auto& is_partitioned = nopal::is_partitioned;
  static constexpr auto& includes = nopal::includes;
  static constexpr auto& min = nopal::min;
  static constexpr auto& max = nopal::max;
  static constexpr auto& minmax = nopal::minmax;
  static constexpr auto& reduce = nopal::reduce;
};

// ---- Outcomes.

/// Vectors of bool are not written in parallel.
template <class T>
using stored = std::conditional_t<std::is_same_v<T, bool>, char, T>;

template <class R, class I>
std::uint64_t place_in(R& r, I it) {
  return static_cast<std::uint64_t>(it - std::ranges::begin(r));
}
template <class V>
std::uint64_t all_of_it(V const& v) {
  std::uint64_t sum = 0;
  for (auto const& x : v) sum = sum * 1'000'003 + matrix::weigh(x);
  return sum;
}

/// A range's elements, and their projections, as values.
template <class R>
using value_of = std::ranges::range_value_t<R>;
template <class P, class T>
using projection_of = std::remove_cvref_t<std::invoke_result_t<P&, T const&>>;

// ---- The algorithms: of<Way>(range, its elements as a vector, projection).

struct reduce {
  static constexpr char const* name = "reduce";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    using sum = projection_of<P, T>;
    return {matrix::weigh(Way::reduce(r, sum{}, joined<sum>{}, p)), matrix::weigh(Way::reduce(r, sum{}, leading_reference<sum>{}, p))};
  }
};
struct plain_sum {
  static constexpr char const* name = "reduce by std::plus";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    using sum = projection_of<P, T>;
    if constexpr (std::is_integral_v<sum> && !std::is_same_v<sum, bool>) {
      using longest = std::conditional_t<std::is_signed_v<sum>, long, unsigned long>;
      return {matrix::weigh(Way::reduce(r, longest{5}, std::plus<>{}, p))};
    } else {
      return {};
    }
  }
};
struct transform_reduce {
  static constexpr char const* name = "transform_reduce";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    using sum = projection_of<P, T>;
    if constexpr (Way::is_serial) {
      return {matrix::weigh(serial_reduce{}(r, sum{}, joined<sum>{}, p))};
    } else {
      return {matrix::weigh(nopal::transform_reduce(r, sum{}, joined<sum>{}, p))};
    }
  }
};
struct transform_reduce_pairs {
  static constexpr char const* name = "transform_reduce of two ranges";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    // Of an element and of an object that lasts: its result refers to one of them.
    auto const of_two = [&p](auto&& a, T const& b) -> decltype(auto) {
      static_cast<void>(b);
      return std::invoke(p, std::forward<decltype(a)>(a));
    };
    using sum = projection_of<P, T>;
    if constexpr (Way::is_serial) {
      return {matrix::weigh(serial_reduce{}(r, all, sum{}, joined<sum>{}, of_two))};
    } else {
      return {matrix::weigh(nopal::transform_reduce(r, all, sum{}, joined<sum>{}, of_two))};
    }
  }
};
struct transform_reduce_both {
  static constexpr char const* name = "transform_reduce of both of two ranges";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    auto const of_two = [&p](auto&& a, T const& b) {
      return matrix::weigh(std::invoke(p, std::forward<decltype(a)>(a))) * (matrix::weigh(b) | 1);
    };
    if constexpr (Way::is_serial) {
      return {serial_reduce{}(r, all, std::uint64_t{0}, std::plus<>{}, of_two)};
    } else {
      return {nopal::transform_reduce(r, all, std::uint64_t{0}, std::plus<>{}, of_two)};
    }
  }
};
struct count {
  static constexpr char const* name = "count";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    projection_of<P, T> const looked_for = all.empty() ? projection_of<P, T>{} : std::invoke(p, all[all.size() / 2]);
    return {static_cast<std::uint64_t>(Way::count(r, looked_for, p))};
  }
};
struct count_if {
  static constexpr char const* name = "count_if";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    return {static_cast<std::uint64_t>(Way::count_if(r, third{}, p))};
  }
};
struct find {
  static constexpr char const* name = "find";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    projection_of<P, T> const looked_for = all.empty() ? projection_of<P, T>{} : std::invoke(p, all[all.size() * 2 / 3]);
    return {place_in(r, Way::find(r, looked_for, p))};
  }
};
struct find_if {
  static constexpr char const* name = "find_if";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    return {place_in(r, Way::find_if(r, third{}, p)), place_in(r, Way::find_if(r, rare{}, p))};
  }
};
struct any_all_none {
  static constexpr char const* name = "any_of, all_of, none_of";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    return {std::uint64_t{Way::any_of(r, third{}, p)}, std::uint64_t{Way::all_of(r, std::not_fn(rare{}), p)},
            std::uint64_t{Way::none_of(r, rare{}, p)}};
  }
};
struct least {
  static constexpr char const* name = "min_element, max_element";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    return {place_in(r, Way::min_element(r, std::ranges::less{}, p)), place_in(r, Way::max_element(r, std::ranges::less{}, p))};
  }
};
struct least_and_greatest {
  static constexpr char const* name = "minmax_element";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    auto const [min, max] = Way::minmax_element(r, std::ranges::less{}, p);
    return {place_in(r, min), place_in(r, max)};
  }
};
struct for_each {
  static constexpr char const* name = "for_each";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    std::atomic<std::uint64_t> sum{0};
    auto const [end, f] = Way::for_each(r, [&](auto const& x) { sum.fetch_add(matrix::weigh(x), std::memory_order::relaxed); }, p);
    return {sum.load(), place_in(r, end)};
  }
};
struct transform {
  static constexpr char const* name = "transform";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    std::vector<std::uint64_t> out(all.size());
    auto const ends = Way::transform(r, out.begin(), weighed{}, p);
    std::vector<stored<projection_of<P, T>>> kept(all.size());  // where the result of the function refers into what it was given
    Way::transform(r, kept.begin(), std::identity{}, p);
    return {all_of_it(out), place_in(r, ends.in), place_in(out, ends.out), all_of_it(kept)};
  }
};
struct transform_pairs {
  static constexpr char const* name = "transform of two ranges";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    std::vector<std::uint64_t> out(all.size());
    auto const both = [](auto const& a, auto const& b) { return matrix::weigh(a) - 3 * matrix::weigh(b); };
    auto const ends = Way::transform(r, all, out.begin(), both, p, p);
    return {all_of_it(out), place_in(r, ends.in1), place_in(all, ends.in2), place_in(out, ends.out)};
  }
};
struct copy_if {
  static constexpr char const* name = "copy_if";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    std::vector<stored<T>> out(all.size());
    auto const ends = Way::copy_if(r, out.begin(), third{}, p);
    return {all_of_it(out), place_in(r, ends.in), place_in(out, ends.out)};
  }
};
struct merge {
  static constexpr char const* name = "merge";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    std::vector<T> second;  // some of the elements, to show which range equal ones are taken from
    for (std::size_t i = 0; i < all.size(); i += 2) second.push_back(all[i]);
    std::vector<stored<T>> out(all.size() + second.size());
    auto const ends = Way::merge(r, second, out.begin(), less_where_sorted{std::ranges::is_sorted(all, std::ranges::less{}, p)}, p, p);
    return {all_of_it(out), place_in(r, ends.in1), place_in(second, ends.in2), place_in(out, ends.out)};
  }
};
/// These take no projection, but the functions called with elements may return references into them.
struct scans {
  static constexpr char const* name = "inclusive_scan, exclusive_scan";
  template <class Way, class R, class T>
  static outcome of(R& r, std::vector<T> const& all, std::identity) {
    using op = std::conditional_t<std::is_integral_v<T>, joined<T>, leading<T>>;
    std::vector<stored<T>> in(all.size());
    std::vector<stored<T>> from(all.size());
    std::vector<stored<T>> ex(all.size());
    if constexpr (Way::is_serial) {
      T const& first = all.empty() ? T{} : all[0];
      if (!all.empty()) in[0] = first;
      if (!all.empty()) serial_scans::scan<true>(std::ranges::subrange{all.begin() + 1, all.end()}, in.begin() + 1, first, op{});
      serial_scans::scan<true>(r, from.begin(), T{}, op{});
      serial_scans::scan<false>(r, ex.begin(), T{}, op{});
      return {all_of_it(in), all_of_it(from), all_of_it(ex), all.size(), all.size()};
    } else {
      auto const ends = nopal::inclusive_scan(r, in.begin(), op{});
      nopal::inclusive_scan(r, from.begin(), op{}, T{});
      nopal::exclusive_scan(r, ex.begin(), T{}, op{});
      return {all_of_it(in), all_of_it(from), all_of_it(ex), place_in(r, ends.in), place_in(in, ends.out)};
    }
  }
};
struct histogram {
  static constexpr char const* name = "histogram";
  template <class Way, class R, class T>
  static outcome of(R& r, std::vector<T> const& all, std::identity) {
    std::vector<std::size_t> bins(10);
    if constexpr (Way::is_serial) {
      for (auto const& x : all) ++bins[bin{}(x)];
    } else {
      bins = nopal::histogram(r, 10, bin{});
    }
    return {bins.begin(), bins.end()};
  }
};

template <class...>
struct list {};
using reading = list<reduce, plain_sum, transform_reduce, transform_reduce_pairs, transform_reduce_both, count, count_if, find, find_if,
                     any_all_none, least, least_and_greatest, for_each, transform, transform_pairs, copy_if, merge>;
using reading_without_projection = list<scans, histogram>;

}  // namespace test::matrix

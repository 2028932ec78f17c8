#pragma once

// More algorithms of the matrix, as in algorithms.hpp: those that compare elements with others, and that sum up blocks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms.hpp"

namespace test::matrix {

struct as_heavy {
  template <class A, class B>
  bool operator()(A const& a, B const& b) const {
    return matrix::weigh(a) == matrix::weigh(b);
  }
};
/// At most so many elements from a place on.
template <class T>
auto some_of(std::vector<T> const& all, std::size_t from, std::size_t n) {
  from = std::min(from, all.size());
  auto const first = all.begin() + static_cast<std::ptrdiff_t>(from);
  return std::ranges::subrange{first, first + static_cast<std::ptrdiff_t>(std::min(n, all.size() - from))};
}

struct equal_mismatch {
  static constexpr char const* name = "equal, mismatch, lexicographical_compare";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    auto const later = some_of(all, 1, all.size());
    auto const ends = Way::mismatch(r, later, as_heavy{}, p, p);
    auto const all_ends = Way::mismatch(r, all, as_heavy{}, p, p);
    return {std::uint64_t{Way::equal(r, all, as_heavy{}, p, p)},
            std::uint64_t{Way::equal(r, later, as_heavy{}, p, p)},
            place_in(r, ends.in1),
            place_in(later, ends.in2),
            place_in(r, all_ends.in1),
            std::uint64_t{Way::lexicographical_compare(r, later, lighter{}, p, p)},
            std::uint64_t{Way::lexicographical_compare(all, r, lighter{}, p, p)},
            std::uint64_t{Way::lexicographical_compare(later, r, lighter{}, p, p)}};
  }
};
struct neighbours {
  static constexpr char const* name = "is_sorted, is_sorted_until, adjacent_find, find_if_not, is_partitioned";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const&, P p) {
    auto const rare_pair = [](auto const& a, auto const& b) { return (matrix::weigh(a) + matrix::weigh(b)) % 2003 == 7; };
    return {std::uint64_t{Way::is_sorted(r, std::ranges::less{}, p)}, place_in(r, Way::is_sorted_until(r, std::ranges::less{}, p)),
            place_in(r, Way::is_sorted_until(r, lighter{}, p)),       place_in(r, Way::adjacent_find(r, as_heavy{}, p)),
            place_in(r, Way::adjacent_find(r, rare_pair, p)),         place_in(r, Way::find_if_not(r, std::not_fn(rare{}), p)),
            std::uint64_t{Way::is_partitioned(r, third{}, p)},        std::uint64_t{Way::is_partitioned(r, std::not_fn(rare{}), p)}};
  }
};
struct patterns {
  static constexpr char const* name = "search, find_end, find_first_of";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    auto const some = some_of(all, all.size() * 2 / 3, 3);
    auto const many = some_of(all, all.size() / 3, 100);
    return {place_in(r, Way::search(r, some, as_heavy{}, p, p).begin()), place_in(r, Way::search(r, many, as_heavy{}, p, p).begin()),
            place_in(r, Way::find_end(r, some, as_heavy{}, p, p).begin()), place_in(r, Way::find_end(r, many, as_heavy{}, p, p).end()),
            place_in(r, Way::find_first_of(r, some, as_heavy{}, p, p))};
  }
};
struct inclusion {
  static constexpr char const* name = "includes";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    less_where_sorted const less{std::ranges::is_sorted(all, std::ranges::less{}, p)};
    auto const later = some_of(all, all.size() / 2, all.size());
    return {std::uint64_t{Way::includes(r, all, less, p, p)}, std::uint64_t{Way::includes(r, later, less, p, p)},
            std::uint64_t{Way::includes(later, r, less, p, p)}};
  }
};
struct copied_extremes {
  static constexpr char const* name = "min, max, minmax";
  template <class Way, class R, class T, class P>
  static outcome of(R& r, std::vector<T> const& all, P p) {
    if (all.empty()) return {};
    auto const copies = [&](auto& from) -> outcome {
      auto const both = Way::minmax(from, std::ranges::less{}, p);
      return {matrix::weigh(T(Way::min(from, std::ranges::less{}, p))), matrix::weigh(T(Way::max(from, std::ranges::less{}, p))),
              matrix::weigh(both.min), matrix::weigh(both.max)};
    };
    if constexpr (Way::is_serial) {
      return copies(all);  // a constant: GCC 12's std::ranges::min writes to a std::vector<bool>
    } else {
      return copies(r);
    }
  }
};
/// These take no projection, but the functions called with elements may return references into them.
struct differences {
  static constexpr char const* name = "adjacent_difference";
  template <class Way, class R, class T>
  static outcome of(R& r, std::vector<T> const& all, std::identity) {
    std::vector<stored<T>> out(all.size());
    if constexpr (Way::is_serial) {
      for (std::size_t i = 0; i < all.size(); ++i) out[i] = i == 0 ? T(all[0]) : joined<T>{}(all[i], all[i - 1]);
      return {all_of_it(out), all.size(), all.size()};
    } else {
      auto const ends = nopal::adjacent_difference(r, out.begin(), joined<T>{});
      return {all_of_it(out), place_in(r, ends.in), place_in(out, ends.out)};
    }
  }
};
struct transform_scans {
  static constexpr char const* name = "transform_inclusive_scan, transform_exclusive_scan";
  template <class Way, class R, class T>
  static outcome of(R& r, std::vector<T> const& all, std::identity) {
    std::vector<std::uint64_t> in(all.size()), ex(all.size());
    std::vector<stored<T>> kept(all.size());
    if constexpr (Way::is_serial) {
      std::uint64_t sum = 5;
      for (std::size_t i = 0; i < all.size(); ++i) {
        ex[i] = sum;
        in[i] = sum += matrix::weigh(all[i]);
      }
      serial_scans::scan<true>(r, kept.begin(), T{}, leading<T>{});
    } else {
      nopal::transform_inclusive_scan(r, in.begin(), std::plus<>{}, weighed{}, std::uint64_t{5});
      nopal::transform_exclusive_scan(r, ex.begin(), std::uint64_t{5}, std::plus<>{}, weighed{});
      nopal::transform_inclusive_scan(r, kept.begin(), leading<T>{}, std::identity{}, T{});
    }
    return {all_of_it(in), all_of_it(ex), all_of_it(kept)};
  }
};
struct block_sums {
  static constexpr char const* name = "reduce_blocks";
  struct steps {  // x -> factor * x + term: these are associative, and do not commute
    std::uint64_t factor = 1;
    std::uint64_t term = 0;
    friend steps operator+(steps a, steps b) { return {a.factor * b.factor, a.term * b.factor + b.term}; }
  };
  template <class Way, class R, class T>
  static outcome of(R& r, std::vector<T> const&, std::identity) {
    auto const body = [](auto from, auto to, steps so_far) {
      for (; from != to; ++from) so_far = so_far + steps{31, matrix::weigh(*from)};
      return so_far;
    };
    steps sum;
    if constexpr (Way::is_serial) {
      sum = body(r.begin(), r.end(), sum);
    } else {
      sum = nopal::reduce_blocks(r, sum, body, std::plus<>{});
    }
    return {sum.factor, sum.term};
  }
};

using comparing = list<equal_mismatch, neighbours, patterns, inclusion, copied_extremes>;
using summing_blocks = list<differences, transform_scans, block_sums>;

}  // namespace test::matrix

// The matrix: algorithms that write their range. The expected result is that of std::ranges on a vector of the same elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "cells.hpp"

namespace {

using namespace test::matrix;
namespace views = std::views;

/// As std::ranges::stable_sort. (Clang warns of how that of GCC 12 gets its memory.)
struct stable_by_places {
  template <class R, class C, class P>
  auto operator()(R& r, C c, P p) const {
    auto const less = [&](std::size_t a, std::size_t b) { return std::invoke(c, std::invoke(p, r[a]), std::invoke(p, r[b])); };
    std::vector<std::size_t> order(r.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return less(a, b) || (!less(b, a) && a < b); });
    R sorted;
    for (std::size_t const i : order) sorted.push_back(r[i]);
    r = std::move(sorted);
    return r.end();
  }
};

struct std_way {
  static constexpr auto& sort = std::ranges::sort;
  static constexpr stable_by_places stable_sort{};
  static constexpr auto& nth_element = std::ranges::nth_element;
  static constexpr auto& partition = std::ranges::partition;
  static constexpr auto& remove_if = std::ranges::remove_if;
  static constexpr auto& unique = std::ranges::unique;
  static constexpr auto& fill = std::ranges::fill;
  static constexpr auto& generate = std::ranges::generate;
  static constexpr auto& reverse = std::ranges::reverse;
  static constexpr auto& rotate = std::ranges::rotate;
  static constexpr auto& swap_ranges = std::ranges::swap_ranges;
  static constexpr auto& replace = std::ranges::replace;
  static constexpr auto& replace_if = std::ranges::replace_if;
  static constexpr auto& remove = std::ranges::remove;
  static constexpr auto& partial_sort = std::ranges::partial_sort;
};
struct nopal_way {
  static constexpr auto& sort = nopal::sort;
  static constexpr auto& stable_sort = nopal::stable_sort;
  static constexpr auto& nth_element = nopal::nth_element;
  static constexpr auto& partition = nopal::partition;
  static constexpr auto& remove_if = nopal::remove_if;
  static constexpr auto& unique = nopal::unique;
  static constexpr auto& fill = nopal::fill;
  static constexpr auto& generate = nopal::generate;
  static constexpr auto& reverse = nopal::reverse;
  static constexpr auto& rotate = nopal::rotate;
  static constexpr auto& swap_ranges = nopal::swap_ranges;
  static constexpr auto& replace = nopal::replace;
  static constexpr auto& replace_if = nopal::replace_if;
  static constexpr auto& remove = nopal::remove;
  static constexpr auto& partial_sort = nopal::partial_sort;
};

/// The same for the same elements in any order.
template <class R>
std::uint64_t elements_of(R&& r) {
  std::uint64_t sum = 0;
  for (auto const& x : r) sum += test::matrix::weigh(x);
  return sum;
}
template <class I, class P>
std::uint64_t in_order(I first, I last, P p) {
  std::uint64_t sum = 0;
  for (; first != last; ++first) sum = sum * 1'000'003 + test::matrix::weigh(std::invoke(p, *first));
  return sum;
}

struct sort {
  static constexpr char const* name = "sort";
  template <class Way, class R, class P>
  static outcome of(R& r, P p) {
    auto const end = Way::sort(r, std::ranges::less{}, p);
    outcome result{place_in(r, end), elements_of(r), in_order(std::ranges::begin(r), end, p)};
    Way::sort(r, std::ranges::greater{}, p);
    result.push_back(in_order(std::ranges::begin(r), end, p));
    return result;
  }
};
struct stable_sort {
  static constexpr char const* name = "stable_sort";
  template <class Way, class R, class P>
  static outcome of(R& r, P p) {
    auto const end = Way::stable_sort(r, std::ranges::less{}, p);
    return {place_in(r, end), in_order(std::ranges::begin(r), end, std::identity{})};
  }
};
struct nth_element {
  static constexpr char const* name = "nth_element";
  template <class Way, class R, class P>
  static outcome of(R& r, P p) {
    auto const nth = std::ranges::begin(r) + static_cast<std::ptrdiff_t>(std::ranges::size(r) * 2 / 3);
    auto const end = Way::nth_element(r, nth, std::ranges::less{}, p);
    if (nth == end) return {};
    auto const is_less = [&](auto const& a, auto const& b) { return std::ranges::less{}(std::invoke(p, a), std::invoke(p, b)); };
    auto const holds = std::all_of(std::ranges::begin(r), nth, [&](auto const& x) { return !is_less(*nth, x); }) &&
                       std::all_of(nth, end, [&](auto const& x) { return !is_less(x, *nth); });
    return {place_in(r, end), elements_of(r), test::matrix::weigh(std::invoke(p, *nth)), std::uint64_t{holds}};
  }
};
struct partition {
  static constexpr char const* name = "partition";
  template <class Way, class R, class P>
  static outcome of(R& r, P p) {
    auto const rest = Way::partition(r, third{}, p);
    auto const holds = [&](auto const& x) { return third{}(std::invoke(p, x)); };
    return {place_in(r, rest.begin()), place_in(r, rest.end()), elements_of(r),
            std::uint64_t{std::all_of(std::ranges::begin(r), rest.begin(), holds) && std::none_of(rest.begin(), rest.end(), holds)}};
  }
};
struct remove_if {
  static constexpr char const* name = "remove_if";
  template <class Way, class R, class P>
  static outcome of(R& r, P p) {
    auto const rest = Way::remove_if(r, third{}, p);
    return {place_in(r, rest.begin()), place_in(r, rest.end()), in_order(std::ranges::begin(r), rest.begin(), std::identity{})};
  }
};
struct unique {
  static constexpr char const* name = "unique";
  template <class Way, class R, class P>
  static outcome of(R& r, P p) {
    auto const alike = [](auto const& a, auto const& b) { return third{}(a) == third{}(b); };
    auto const rest = Way::unique(r, alike, p);
    return {place_in(r, rest.begin()), place_in(r, rest.end()), in_order(std::ranges::begin(r), rest.begin(), std::identity{})};
  }
};
struct changed_places {
  static constexpr char const* name = "reverse, rotate, swap_ranges";
  template <class Way, class R>
  static outcome of(R& r, std::identity p) {
    auto const third = static_cast<std::ptrdiff_t>(std::ranges::size(r) / 3);
    auto const first = std::ranges::begin(r);
    auto const end = Way::reverse(r);
    outcome result{place_in(r, end), in_order(first, end, p)};
    auto const rest = Way::rotate(r, first + third);
    result.insert(result.end(), {place_in(r, rest.begin()), place_in(r, rest.end()), in_order(first, end, p)});
    auto const ends = Way::swap_ranges(std::ranges::subrange{first, first + third}, std::ranges::subrange{first + third, end});
    result.insert(result.end(), {place_in(r, ends.in1), place_in(r, ends.in2), in_order(first, end, p)});
    return result;
  }
};
struct replaced_and_removed {
  static constexpr char const* name = "replace, replace_if, remove";
  template <class Way, class R, class P>
  static outcome of(R& r, P p) {
    using value = std::ranges::range_value_t<R>;
    if (std::ranges::empty(r)) return {};
    auto const first = std::ranges::begin(r);
    value const one = *(first + static_cast<std::ptrdiff_t>(std::ranges::size(r) / 2));
    value const other = *first;
    auto const looked_for = std::remove_cvref_t<std::invoke_result_t<P&, value const&>>(std::invoke(p, one));
    auto end = Way::replace(r, looked_for, other, p);
    outcome result{place_in(r, end), in_order(first, end, std::identity{})};
    end = Way::replace_if(r, third{}, other, p);
    result.insert(result.end(), {place_in(r, end), in_order(first, end, std::identity{})});
    auto const rest = Way::remove(r, std::remove_cvref_t<decltype(looked_for)>(std::invoke(p, other)), p);
    result.insert(result.end(), {place_in(r, rest.begin()), in_order(first, rest.begin(), std::identity{})});
    return result;
  }
};
/// That of std for a vector is one more copy: in GCC 12 it gets its memory in a way that Clang warns about.
struct stable_partition {
  static constexpr char const* name = "stable_partition";
  template <class Way, class R, class P>
  static outcome of(R& r, P p) {
    if constexpr (std::is_same_v<Way, nopal_way>) {
      auto const rest = nopal::stable_partition(r, third{}, p);
      return {place_in(r, rest.begin()), place_in(r, rest.end()), in_order(std::ranges::begin(r), rest.end(), std::identity{})};
    } else {
      R yes(r.size());
      R no(r.size());
      auto const ends = std::ranges::partition_copy(r, yes.begin(), no.begin(), third{}, p);
      auto const end = std::ranges::copy(no.begin(), ends.out2, ends.out1).out;
      return {place_in(yes, ends.out1), r.size(), in_order(yes.begin(), end, std::identity{})};
    }
  }
};
struct partial_sort_and_merge {
  static constexpr char const* name = "partial_sort, inplace_merge";
  template <class Way, class R, class P>
  static outcome of(R& r, P p) {
    auto const first = std::ranges::begin(r);
    auto const middle = first + static_cast<std::ptrdiff_t>(std::ranges::size(r) / 3);
    auto const end = Way::partial_sort(r, middle, std::ranges::less{}, p);
    outcome result{place_in(r, end), elements_of(r), in_order(first, middle, p)};
    Way::partial_sort(r, end, std::ranges::greater{}, p);
    if constexpr (std::is_same_v<Way, nopal_way>) {  // as above: expected is a sort
      Way::partial_sort(r, middle, std::ranges::less{}, p);
      std::ranges::sort(middle, end, std::ranges::less{}, p);
      nopal::inplace_merge(r, middle, std::ranges::less{}, p);
    } else {
      std::ranges::sort(first, end, std::ranges::less{}, p);
    }
    result.push_back(in_order(first, end, p));
    return result;
  }
};
struct fill_and_generate {
  static constexpr char const* name = "fill, generate";
  template <class Way, class R>
  static outcome of(R& r, std::identity p) {
    using value = std::ranges::range_value_t<R>;
    if (std::ranges::empty(r)) return {};
    value const last = *(std::ranges::end(r) - 1);
    auto end = Way::fill(r, last);
    outcome result{place_in(r, end), in_order(std::ranges::begin(r), end, p)};
    end = Way::generate(r, [] { return value{}; });
    result.insert(result.end(), {place_in(r, end), in_order(std::ranges::begin(r), end, p)});
    return result;
  }
};

template <class Algorithm, class Make, class View, class P>
void cell_of(char const* range, Make make, View view, projection<P> const& by) {
  auto const tried = [&](std::size_t n, context const& where, outcome const& expected) {
    auto const run = [&] {
      auto data = make(n);
      decltype(auto) r = view(data);
      return Algorithm::template of<nopal_way>(r, by.f);
    };
    return agree(where.run(run), expected, range, by.name, Algorithm::name, n, where.name);
  };
  auto const expected = [&](std::size_t n) {
    auto data = make(n);
    decltype(auto) r = view(data);
    std::vector<std::ranges::range_value_t<decltype(r)>> all(std::ranges::begin(r), std::ranges::end(r));
    return Algorithm::template of<std_way>(all, by.f);
  };
  using value = std::ranges::range_value_t<decltype(view(std::declval<std::invoke_result_t<Make&, std::size_t>&>()))>;
  std::vector<std::size_t> sizes(small_sizes.begin(), small_sizes.end());
  sizes.push_back(largest<value, P>);
  for (std::size_t const n : sizes) {
    outcome const o = expected(n);
    for (auto const& where : contexts_for(n)) {
      if (!tried(n, where, o)) return;
    }
  }
}
template <class Make, class View, class P, class... Algorithm>
void row_of(char const* range, Make make, View view, projection<P> const& by, list<Algorithm...>) {
  (cell_of<Algorithm>(range, make, view, by), ...);
}
template <class Make, class View, class... P>
void written(char const* range, Make make, View view, projection<P> const&... by) {
  using all =
      list<sort, stable_sort, nth_element, partition, remove_if, unique, replaced_and_removed, stable_partition, partial_sort_and_merge>;
  row_of(range, make, view, by_identity, list<fill_and_generate, changed_places>{});
  row_of(range, make, view, by_identity, all{});
  (row_of(range, make, view, by, all{}), ...);
}

template <class V, auto At>
V filled(std::size_t n) {
  V v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(At(number_at(i)));
  return v;
}
auto const numbers_of = filled<std::vector<long>, [](long n) { return n; }>;
auto const records_of = filled<std::vector<record>, record_of>;
auto const records_in_a_deque = filled<std::deque<record>, record_of>;
auto const strings_of = filled<std::vector<std::string>, string_of>;
auto const itself = [](auto& v) -> auto& { return v; };

projection const negated{"value", [](long n) { return -n; }};
projection const by_member{"member", &record::name};
projection const by_number{"member that is a number", &record::key};
projection const by_function{"member function", &record::half};
projection const by_reference{"reference", [](record const& r) -> std::string const& { return r.name; }};
projection const by_value{"value", [](record const& r) { return r.name; }};

TEST(sorts, vector_of_longs) { written("vector", numbers_of, itself, negated); }
TEST(sorts, pointers) {
  written("pointers", numbers_of, [](auto& v) { return std::ranges::subrange{v.data(), v.data() + v.size()}; });
}
TEST(sorts, reverse) {
  written("vector | reverse", numbers_of, [](auto& v) { return v | views::reverse; }, negated);
}
TEST(sorts, strings) { written("vector of strings", strings_of, itself, projection{"size", &std::string::size}); }
TEST(sorts, take_and_drop) {
  written("vector of strings | take", strings_of, [](auto& v) { return v | views::take(v.size() - v.size() / 4); });
  written("vector | drop", numbers_of, [](auto& v) { return v | views::drop(3); });
}
TEST(sorts, records) { written("vector of records", records_of, itself, by_member, by_number, by_function, by_value); }
TEST(sorts, records_in_a_deque) { written("deque of records", records_in_a_deque, itself, by_reference); }
TEST(sorts, by_reference_into_records) {
  written("vector of records | transform to its keys", records_of, [](auto& v) { return v | views::transform(&record::key); });
}
TEST(sorts, counted) {
  written(
      "counted of a deque", records_in_a_deque, [](auto& v) { return views::counted(v.begin(), static_cast<std::ptrdiff_t>(v.size())); },
      by_number);
}
TEST(sorts, iota) {
  for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, large_size}) {
    std::vector<long> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = static_cast<long>(i) - 5;
    for (auto const& where : contexts()) {
      auto const run = [&] {
        std::deque<long> d(n);
        auto const [end, next] = nopal::iota(d, -5L);
        return outcome{place_in(d, end), static_cast<std::uint64_t>(next), in_order(d.begin(), d.end(), std::identity{})};
      };
      agree(where.run(run), {n, n - 5, in_order(expected.begin(), expected.end(), std::identity{})}, "deque", "identity", "iota", n,
            where.name);
    }
  }
}

}  // namespace

// The matrix: ranges of numbers.

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cells.hpp"

namespace {

using namespace test::matrix;
namespace views = std::views;

template <class V>
V filled(std::size_t n) {
  V v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<typename V::value_type>(number_at(i)));
  return v;
}
auto const vector_of = filled<std::vector<long>>;
auto const deque_of = filled<std::deque<long>>;
auto const nothing_of = [](std::size_t n) { return static_cast<long>(n); };

projection const by_value{"value", [](long n) { return 3 * n; }};
projection const by_reference{"reference", [](long const& n) -> long const& { return n; }};

TEST(longs, vector) {
  over("vector", vector_of, [](auto& v) -> auto& { return v; }, by_value, by_reference);
}
TEST(longs, deque) {
  over("deque", deque_of, [](auto& v) -> auto& { return v; }, by_reference);
}
TEST(longs, vector_of_bool) {
  auto const make = [](std::size_t n) {
    std::vector<bool> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = number_at(i) % 3 == 0;
    return v;
  };
  over("vector<bool>", make, [](auto& v) -> auto& { return v; }, projection{"value", [](bool b) { return b ? 5L : 7L; }});
}
TEST(longs, array_pointers) {
  over_too("pointers", vector_of, [](auto& v) { return std::ranges::subrange{v.data(), v.data() + v.size()}; }, by_value);
}
TEST(longs, iota) {
  over("iota", nothing_of, [](long& n) { return views::iota(0L, n); }, by_value, by_reference);
  over_too(
      "iota of ints", nothing_of, [](long& n) { return views::iota(0, static_cast<int>(n)); },
      projection{"reference", [](int const& i) -> int const& { return i; }});
}
TEST(longs, transform_by_value) {
  over(
      "iota | transform", nothing_of,
      [](long& n) { return views::iota(0L, n) | views::transform([](long i) { return number_at(static_cast<std::size_t>(i)); }); },
      by_value, by_reference);
  over_too("vector | transform", vector_of, [](auto& v) { return v | views::transform([](long x) { return x / 2; }); }, by_reference);
}
TEST(longs, reverse) {
  over_too("iota | reverse", nothing_of, [](long& n) { return views::iota(0L, n) | views::reverse; }, by_reference);
  over(
      "iota | transform | reverse", nothing_of,
      [](long& n) { return views::iota(0L, n) | views::transform([](long i) { return i / 3; }) | views::reverse; }, by_reference);
  over_too("vector | reverse", vector_of, [](auto& v) { return v | views::reverse; }, by_value);
}
TEST(longs, take_and_drop) {
  over_too("vector | take", vector_of, [](auto& v) { return v | views::take(v.size() - v.size() / 4); }, by_value);
  over_too("iota | take", nothing_of, [](long& n) { return views::iota(0L, 2 * n) | views::take(n); }, by_reference);
  over("unbounded iota | take", nothing_of, [](long& n) { return views::iota(0L) | views::take(n); }, by_reference);
  over_too("deque | drop", deque_of, [](auto& v) { return v | views::drop(3); }, by_value);
  over_too("iota | drop", nothing_of, [](long& n) { return views::iota(0L, n) | views::drop(3); }, by_reference);
}
TEST(longs, keys) {
  auto const make = [](std::size_t n) {
    std::vector<std::pair<long, std::string>> v;
    for (std::size_t i = 0; i < n; ++i) v.emplace_back(number_at(i), "x");
    return v;
  };
  over("vector of pairs | keys", make, [](auto& v) { return v | views::keys; }, by_value, by_reference);
  over_too(
      "iota | transform to pairs | keys", nothing_of,
      [](long& n) { return views::iota(0L, n) | views::transform([](long i) { return std::pair{i, i}; }) | views::keys; }, by_reference);
}
TEST(longs, counted) {
  over_too(
      "counted of pointers", vector_of, [](auto& v) { return views::counted(v.data(), static_cast<std::ptrdiff_t>(v.size())); }, by_value);
  over(
      "counted_iterator", deque_of,
      [](auto& v) {
        return std::ranges::subrange{std::counted_iterator{v.begin(), static_cast<std::ptrdiff_t>(v.size())}, std::default_sentinel};
      },
      by_value, by_reference);
}
TEST(longs, that_end_where_something_holds) {
  over(
      "iota | take_while", nothing_of, [](long& n) { return views::iota(0L) | views::take_while([n](long i) { return i < n; }); },
      by_reference);
}

/// Ranges with an end that is found by walking, and second ranges that the first one bounds.
template <class Way>
outcome without_an_end(std::vector<long> const& v) {
  auto const n = static_cast<long>(v.size()) - 1;
  auto const numbers = views::iota(0L);
  auto const halves = numbers | views::transform([](long i) { return i / 2; });
  auto const texts = numbers | views::transform([](long i) { return string_of(i); });
  auto later = views::iota(0) | views::drop(3);
  auto const is_n = [n](long i) { return i == n; };
  auto const itself = [](long const& i) -> long const& { return i; };
  outcome result{place_in(numbers, Way::find(numbers, n, itself)),
                 place_in(numbers, Way::find_if(numbers, is_n)),
                 place_in(halves, Way::find_if(halves, is_n, itself)),
                 place_in(texts, Way::find(texts, string_of(n), [](std::string const& s) -> std::string const& { return s; })),
                 place_in(later, Way::find(later, static_cast<int>(n) + 3)),
                 static_cast<std::uint64_t>(Way::find(v.data(), std::unreachable_sentinel, v.back()) - v.data()),
                 std::uint64_t{Way::any_of(halves, is_n)},
                 std::uint64_t{Way::all_of(numbers, [n](long i) { return i != n; })},
                 std::uint64_t{Way::none_of(numbers, is_n, itself)}};
  std::vector<long> out(v.size());
  auto const sum = [](long a, long b) { return a + 3 * b; };
  auto const second = Way::transform(v, halves, out.begin(), sum, itself, itself);
  result.insert(result.end(), {all_of_it(out), place_in(halves, second.in2)});
  auto const first = Way::transform(halves, v, out.begin(), sum, itself, itself);
  result.insert(result.end(), {all_of_it(out), place_in(halves, first.in1)});
  return result;
}
TEST(longs, without_an_end) {
  for (std::size_t const n :
       {std::size_t{1}, std::size_t{2}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{1000}, large_size}) {
    std::vector<long> const v = vector_of(n);
    outcome const expected = without_an_end<serial>(v);
    for (auto const& where : contexts()) {
      if (!agree(where.run([&] { return without_an_end<parallel>(v); }), expected, "ranges without an end", "reference", "searches", n,
                 where.name))
        return;
    }
  }
}
}  // namespace

#pragma once

// Parts of the programs of pipelines.py.

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "cells.hpp"

namespace test::matrix {

// ---- Sources of n elements, and the objects that their ranges refer to.

template <class V>
V numbers(std::size_t n) {
  V v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<typename V::value_type>(number_at(i)));
  return v;
}
inline std::vector<bool> bools(std::size_t n) {
  std::vector<bool> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(number_at(i) % 3 == 0);
  return v;
}
template <class V>
V strings(std::size_t n) {
  V v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(string_of(number_at(i)));
  return v;
}
template <class V>
V records(std::size_t n) {
  V v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(record_of(number_at(i)));
  return v;
}
struct columns {
  std::vector<long> keys;
  std::vector<std::string> names;
  [[nodiscard]] std::size_t size() const { return keys.size(); }
};
inline columns columns_of(std::size_t n) { return {numbers<std::vector<long>>(n), strings<std::vector<std::string>>(n)}; }
inline std::size_t itself(std::size_t n) { return n; }

inline auto const all_of = [](auto& v) { return std::views::all(v); };
inline auto const counted_of = [](auto& v) {
  return std::ranges::subrange{std::counted_iterator{v.begin(), static_cast<std::ptrdiff_t>(v.size())}, std::default_sentinel};
};
inline auto zip(columns& c) {
  zip_iterator first;
  first.keys = c.keys.data();
  first.names = c.names.data();
  return std::ranges::subrange{first, first + static_cast<std::ptrdiff_t>(c.keys.size())};
}
inline std::size_t n_of(std::size_t n) { return n; }
template <class V>
std::size_t n_of(V const& v) {
  return v.size();
}

// ---- Results of views of numbers.

inline auto const to_half = [](auto n) { return static_cast<long>(n) / 2; };
inline auto const to_int = [](auto n) { return static_cast<int>(n) - 3; };
inline auto const to_record = [](auto n) { return record_of(static_cast<long>(n)); };
inline auto const to_string = [](auto n) { return string_of(static_cast<long>(n)); };
inline auto const to_pair = [](auto n) { return std::pair{n, 1}; };

/// Tests one cell at one size in one context.
template <class Algorithm, class Make, class View, class P>
void once(char const* range, Make make, View view, projection<P> const& by, std::size_t n, std::size_t number_of_context) {
  auto data = make(n);
  decltype(auto) r = view(data);
  std::vector<std::ranges::range_value_t<decltype(r)>> all;
  for (auto it = std::ranges::begin(r); it != std::ranges::end(r); ++it) all.push_back(*it);
  outcome const expected = Algorithm::template of<serial>(all, all, by.f);
  auto const& where = contexts()[number_of_context];
  auto const run = [&] {
    decltype(auto) mine = view(data);
    return Algorithm::template of<parallel>(mine, all, by.f);
  };
  agree(where.run(run), expected, range, by.name, Algorithm::name, n, where.name);
}

}  // namespace test::matrix

#pragma once

// sort and stable_sort beside the standard library's: for sort_test.cpp and sort_types_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "nopal/algorithm/sort.hpp"

namespace test {

/// v in order. The standard library's sort is compiled once for each type.
template <class T>
std::vector<T> in_order(std::vector<T> v) {
  std::ranges::sort(v);
  return v;
}

template <class T>
void sorts_upwards(const std::vector<T>& v) {
  const auto expected = in_order(v);
  auto sorted = v;
  EXPECT_EQ(nopal::sort(sorted), sorted.end());
  EXPECT_TRUE(sorted == expected);
  auto stably = v;
  EXPECT_EQ(nopal::stable_sort(stably.begin(), stably.end()), stably.end());
  EXPECT_TRUE(stably == expected);
}

template <class T>
void sorts_both_ways(const std::vector<T>& v) {
  sorts_upwards(v);
  auto expected = in_order(v);
  auto sorted = v;
  auto stably = v;
  std::ranges::reverse(expected);
  nopal::sort(sorted = v, std::ranges::greater{});
  EXPECT_TRUE(sorted == expected);
  nopal::stable_sort(stably = v, std::greater<>{});
  EXPECT_TRUE(stably == expected);
}

}  // namespace test

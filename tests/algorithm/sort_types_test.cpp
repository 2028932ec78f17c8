// sort and stable_sort of other types, ranges and callables beside the standard library's. It takes long to compile.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/sort.hpp"
#include "sorts.hpp"

namespace {

TEST(sort_types, sorts_whole_numbers_of_each_size) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      test::sorts_both_ways(test::numbers<int>(n));
      test::sorts_both_ways(test::numbers<std::uint64_t>(n));
      test::sorts_both_ways(test::numbers<int>(n, 10));
    }
    test::sorts_upwards(test::numbers<std::int8_t>(5000));
    test::sorts_upwards(test::numbers<std::uint16_t>(70'000));
    test::sorts_both_ways(test::numbers<std::int64_t>(70'000));
    test::sorts_upwards(test::numbers<char16_t>(70'000, 500));
  });
}

TEST(sort_types, sorts_a_million_real_numbers) {
  test::everywhere([] {
    std::vector<double> reals;
    for (const auto x : test::numbers<std::int64_t>(test::large))
      reals.push_back(std::ldexp(static_cast<double>(x), static_cast<int>(x % 50)));
    test::sorts_both_ways(reals);
  });
}

TEST(sort_types, sorts_real_numbers_with_infinities_and_both_zeros) {
  std::vector<float> v;
  for (const int x : test::numbers<int>(20'000, 100)) v.push_back(static_cast<float>(x - 50) * 0.25F);
  v[5] = -0.0F;
  v[77] = std::numeric_limits<float>::infinity();
  v[99] = -std::numeric_limits<float>::infinity();
  v[111] = std::numeric_limits<float>::denorm_min();
  test::sorts_both_ways(v);
}

// stable_sort must not tell zeros apart.
TEST(sort_types, keeps_zeros_of_both_signs_in_their_order_if_stable) {
  std::vector<double> v;
  for (const int x : test::numbers<int>(50'000, 4)) v.push_back(x == 0 ? -0.0 : x == 1 ? 0.0 : x);
  const auto expected = test::stably_sorted(v, std::less{});
  nopal::stable_sort(v);
  EXPECT_TRUE(std::ranges::equal(
      v, expected, {}, [](double x) { return std::signbit(x) ? -1 - x : x; }, [](double x) { return std::signbit(x) ? -1 - x : x; }));
}

TEST(sort_types, sorts_strings_by_any_callable) {
  test::everywhere([] {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{1000}, test::sizes.back()}) {
      std::vector<std::string> v;
      for (const auto x : test::numbers<std::uint32_t>(n))
        v.push_back(std::to_string(x) + (x % 3 == 0 ? " and more than fits into it" : ""));
      test::sorts_both_ways(v);
      const auto expected = test::stably_sorted(v, [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
      nopal::stable_sort(v, std::less{}, &std::string::size);
      EXPECT_TRUE(v == expected);
      bool (*const by_address)(const std::string&, const std::string&) = [](const std::string& a, const std::string& b) { return b < a; };
      nopal::sort(v, by_address);
      EXPECT_TRUE(std::ranges::is_sorted(v, by_address));
    }
  });
}

TEST(sort_types, takes_ranges_of_random_access_as_the_standard_one) {
  const auto v = test::numbers<int>(100'000);
  auto expected = v;
  std::ranges::sort(expected);
  std::deque<int> deque(v.begin(), v.end());
  EXPECT_EQ(nopal::sort(deque), deque.end());
  EXPECT_TRUE(std::ranges::equal(deque, expected));
  std::deque<int> again(v.begin(), v.end());
  nopal::stable_sort(again);
  EXPECT_TRUE(std::ranges::equal(again, expected));
  auto w = v;
  std::span<int> span{w};
  EXPECT_EQ(nopal::sort(span), span.end());
  EXPECT_TRUE(w == expected);
  w = v;
  auto part = std::ranges::subrange(w.begin() + 10, w.end() - 10);
  nopal::sort(part);
  EXPECT_TRUE(std::ranges::is_sorted(part));
  EXPECT_EQ(w[3], v[3]);
  EXPECT_TRUE((std::is_same_v<decltype(nopal::sort(std::vector<int>{})), std::ranges::dangling>));
  int array[] = {3, 1, 2};
  nopal::sort(array, [](int& a, int& b) { return a < b; });
  EXPECT_EQ(array[0] * 100 + array[1] * 10 + array[2], 123);
}

}  // namespace

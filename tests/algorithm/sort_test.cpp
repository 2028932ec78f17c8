// sort and stable_sort beside the standard library's.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/sort.hpp"
#include "nopal/algorithm/stable_sort.hpp"

namespace {

struct record {
  int key;
  int place;
  friend bool operator==(const record&, const record&) = default;
};

std::vector<record> records(std::size_t n, std::uint64_t below) {
  std::vector<record> result;
  for (const int key : test::numbers(n, below)) result.push_back({key, static_cast<int>(result.size())});
  return result;
}

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

TEST(sort, sorts_whole_numbers_of_each_size) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      sorts_both_ways(test::numbers<int>(n));
      sorts_both_ways(test::numbers<std::uint64_t>(n));
      sorts_both_ways(test::numbers<int>(n, 10));
    }
    sorts_upwards(test::numbers<std::int8_t>(5000));
    sorts_upwards(test::numbers<std::uint16_t>(70'000));
    sorts_both_ways(test::numbers<std::int64_t>(70'000));
    sorts_upwards(test::numbers<char16_t>(70'000, 500));
  });
}

TEST(sort, sorts_a_million) {
  test::everywhere([] {
    sorts_both_ways(test::numbers<int>(test::large));
    std::vector<double> reals;
    for (const auto x : test::numbers<std::int64_t>(test::large))
      reals.push_back(std::ldexp(static_cast<double>(x), static_cast<int>(x % 50)));
    sorts_both_ways(reals);
  });
}

TEST(sort, sorts_real_numbers_with_infinities_and_both_zeros) {
  std::vector<float> v;
  for (const int x : test::numbers<int>(20'000, 100)) v.push_back(static_cast<float>(x - 50) * 0.25F);
  v[5] = -0.0F;
  v[77] = std::numeric_limits<float>::infinity();
  v[99] = -std::numeric_limits<float>::infinity();
  v[111] = std::numeric_limits<float>::denorm_min();
  sorts_both_ways(v);
}

// stable_sort must not tell zeros apart.
TEST(sort, keeps_zeros_of_both_signs_in_their_order_if_stable) {
  std::vector<double> v;
  for (const int x : test::numbers<int>(50'000, 4)) v.push_back(x == 0 ? -0.0 : x == 1 ? 0.0 : x);
  const auto expected = test::stably_sorted(v, std::less{});
  nopal::stable_sort(v);
  EXPECT_TRUE(std::ranges::equal(
      v, expected, {}, [](double x) { return std::signbit(x) ? -1 - x : x; },
      [](double x) { return std::signbit(x) ? -1 - x : x; }));
}

TEST(sort, sorts_patterns) {
  test::everywhere([] {
    for (const std::size_t n : {100U, 3000U, 200'000U}) {
      for (int pattern = 0; pattern < 9; ++pattern) {
        std::vector<std::pair<int, int>> v;  // which is sorted by comparisons
        const auto random = test::numbers<int>(n);
        for (std::size_t i = 0; i < n; ++i) {
          const int x = static_cast<int>(i);
          const int end = static_cast<int>(n);
          const std::array<int, 9> keys = {x,
                                           end - x,
                                           7,
                                           x % 1000,
                                           x < end / 2 ? x : end - x,
                                           x % 2,
                                           x ^ 1,
                                           x / 100 * 100 - x % 100,
                                           i + 20 < n ? x : random[i]};
          v.emplace_back(keys[static_cast<std::size_t>(pattern)], 0);
        }
        sorts_both_ways(v);
      }
    }
  });
}

// Elements that are made to meet the pivots of a quicksort: each is the worst that is still undecided. McIlroy's adversary.
TEST(sort, stays_fast_whatever_the_elements) {
  constexpr std::size_t n = 4000;
  std::vector<int> value(n, static_cast<int>(n));
  std::vector<int> order;
  for (std::size_t i = 0; i < n; ++i) order.push_back(static_cast<int>(i));
  int solid = 0;
  int candidate = 0;
  std::size_t comparisons = 0;
  nopal::pool pool{{.workers = 1}};
  pool.run([&] {
    nopal::sort(order, [&](int a, int b) {
      ++comparisons;
      int& x = value[static_cast<std::size_t>(a)];
      int& y = value[static_cast<std::size_t>(b)];
      if (x == static_cast<int>(n) && y == static_cast<int>(n)) (a == candidate ? x : y) = solid++;
      if (x == static_cast<int>(n)) candidate = a;
      if (y == static_cast<int>(n)) candidate = b;
      return x < y;
    });
  });
  EXPECT_TRUE(std::ranges::is_sorted(order, {}, [&](int i) { return value[static_cast<std::size_t>(i)]; }));
  EXPECT_LT(comparisons, n * 100);  // n² / 4 are four million
}

TEST(sort, is_stable_if_it_is_said_to_be) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      for (const std::uint64_t below : {2U, 50U, 100'000U}) {
        auto v = records(n, below);
        const auto expected = test::stably_sorted(v, [](const record& a, const record& b) { return a.key < b.key; });
        nopal::stable_sort(v, {}, &record::key);
        EXPECT_TRUE(v == expected) << n << " " << below;
      }
    }
  });
}

TEST(sort, leaves_equal_elements_alike_on_any_number_of_workers) {
  const auto v = records(300'000, 1000);
  std::vector<std::vector<record>> results;
  test::everywhere([&] { nopal::sort(results.emplace_back(v), std::less{}, &record::key); });
  for (const auto& result : results) {
    EXPECT_TRUE(std::ranges::is_sorted(result, {}, &record::key));
    EXPECT_TRUE(result == results[0]);
  }
}

TEST(sort, sorts_strings_by_any_callable) {
  test::everywhere([] {
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{1000}, test::sizes.back()}) {
      std::vector<std::string> v;
      for (const auto x : test::numbers<std::uint32_t>(n))
        v.push_back(std::to_string(x) + (x % 3 == 0 ? " and more than fits into it" : ""));
      sorts_both_ways(v);
      const auto expected =
          test::stably_sorted(v, [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
      nopal::stable_sort(v, std::less{}, &std::string::size);
      EXPECT_TRUE(v == expected);
      bool (*const by_address)(const std::string&, const std::string&) = [](const std::string& a, const std::string& b) {
        return b < a;
      };
      nopal::sort(v, by_address);
      EXPECT_TRUE(std::ranges::is_sorted(v, by_address));
    }
  });
}

TEST(sort, sorts_what_can_only_be_moved_and_what_has_no_default) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      auto numbers = test::numbers<int>(n, 1000);
      std::vector<test::only_moves> moved;
      std::vector<test::wide> wide;
      for (const int x : numbers) moved.emplace_back(x);
      for (const int x : numbers) wide.emplace_back(x);
      std::ranges::sort(numbers);
      auto again = wide;
      nopal::sort(moved, std::ranges::less{}, &test::only_moves::get);
      nopal::sort(wide);
      nopal::stable_sort(again, {}, [](const test::wide& x) { return x.value; });
      EXPECT_TRUE(std::ranges::equal(moved, numbers, {}, &test::only_moves::get));
      EXPECT_TRUE(std::ranges::equal(wide, numbers, {}, &test::wide::value));
      EXPECT_TRUE(std::ranges::equal(again, numbers, {}, &test::wide::value));
      nopal::stable_sort(moved, std::ranges::greater{}, &test::only_moves::get);
      EXPECT_TRUE(std::ranges::equal(moved, numbers | std::views::reverse, {}, &test::only_moves::get));
    }
  });
}

TEST(sort, takes_ranges_of_random_access_as_the_standard_one) {
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

// What is no order gives some permutation: nothing is lost, nothing outside is touched (which AddressSanitizer would see).
TEST(sort, leaves_a_permutation_if_the_comparator_is_no_order) {
  test::everywhere([] {
    for (const std::size_t n : {2U, 31U, 65U, 500U, 3000U, 200'000U}) {
      const auto v = test::numbers<int>(n);
      const auto no_order = [](const test::only_moves& a, const test::only_moves& b) {
        return test::mix(static_cast<std::uint64_t>(a.get()) * 3 + static_cast<std::uint64_t>(b.get())) % 2 == 0;
      };
      std::vector<test::only_moves> moved;
      for (const int x : v) moved.emplace_back(x);
      nopal::sort(moved, no_order);
      nopal::stable_sort(moved, no_order);
      std::vector<int> after;
      for (const auto& x : moved) after.push_back(x.get());
      auto plain = v;
      const auto no_order_of_plain = [](int a, int b) {
        return test::mix(static_cast<std::uint64_t>(a) * 3 + static_cast<std::uint64_t>(b)) % 2 == 0;
      };
      nopal::sort(plain, no_order_of_plain);
      nopal::stable_sort(plain, no_order_of_plain);
      std::ranges::sort(plain);
      std::ranges::sort(after);
      auto expected = v;
      std::ranges::sort(expected);
      EXPECT_TRUE(after == expected);
      EXPECT_TRUE(plain == expected);
    }
  });
}

TEST(sort, nests_in_itself) {
  std::vector<std::vector<int>> rows;
  for (std::size_t i = 0; i < 50; ++i) rows.push_back(test::numbers<int>(4000, 1000, i));
  const auto key = [](const std::vector<int>& row) {
    auto copy = row;
    nopal::sort(copy);
    return copy[2000];
  };
  nopal::stable_sort(rows, {}, key);
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, key));
}

}  // namespace

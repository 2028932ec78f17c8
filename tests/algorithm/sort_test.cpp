// sort and stable_sort beside the standard library's. Other types: sort_types_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/sort.hpp"
#include "sorts.hpp"

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

TEST(sort, sorts_numbers_of_each_size) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) test::sorts_both_ways(test::numbers<int>(n));
    test::sorts_both_ways(test::numbers<int>(test::large));
  });
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
          const std::array<int, 9> keys = {
              x, end - x, 7, x % 1000, x < end / 2 ? x : end - x, x % 2, x ^ 1, x / 100 * 100 - x % 100, i + 20 < n ? x : random[i]};
          v.emplace_back(keys[static_cast<std::size_t>(pattern)], 0);
        }
        test::sorts_both_ways(v);
      }
    }
  });
}

// Whether comparisons take long is measured, so both ways must end in the same order, also of elements that are equal: of what is cheap to
// copy, and of what is not.
TEST(sort, ends_in_one_order_whether_comparisons_take_long_or_not) {
  const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
  const auto ends_alike = [by_key]<class T>(const std::vector<T>& v) {
    using how = nopal::core::algorithms::quick_sort<typename std::vector<T>::iterator, decltype(by_key)>;
    auto quickly = v;
    auto slowly = v;
    how{by_key, false}.sort(quickly.begin(), v.size());
    how{by_key, true}.sort(slowly.begin(), v.size());
    EXPECT_TRUE(quickly == slowly) << v.size();
    quickly = slowly = v;
    how{by_key, false}.select(quickly.begin(), v.size(), v.size() / 3);
    how{by_key, true}.select(slowly.begin(), v.size(), v.size() / 3);
    EXPECT_TRUE(quickly == slowly) << v.size();
  };
  struct text {
    std::string key;
    int place;
    bool operator==(const text&) const = default;
  };
  for (const unsigned workers : test::pools) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    pool.run([&] {
      for (const std::size_t n : {1U, 5U, 33U, 200U, 3000U, 20'000U, 140'000U}) {
        const auto v = records(n, n / 4 + 1);
        ends_alike(v);
        std::vector<text> texts;
        for (const record& r : v) texts.push_back({std::to_string(r.key), r.place});
        ends_alike(texts);
      }
    });
  }
}

// Elements against the pivots of a quicksort: each is the worst that is still undecided. McIlroy's adversary.
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

// A comparison that is not an order gives some permutation: nothing is lost, nothing outside is accessed (AddressSanitizer would detect
// it).
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

// The searches and comparisons of compare_test.cpp with ranges of odd kinds, and values that are hard to copy.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "../types/hostile_values.hpp"
#include "data.hpp"
#include "nopal/algorithm.hpp"

namespace {

// ---- Ranges without an end, and ranges with an end that is found by walking.

TEST(compare_odd, takes_ranges_without_an_end) {
  test::everywhere([] {
    const auto all = std::views::iota(0);
    for (const int n : {0, 1, 64, 1000, 200'000}) {
      const auto some = std::views::iota(0, n);
      EXPECT_FALSE(nopal::equal(all, some));
      EXPECT_FALSE(nopal::equal(some, all));
      EXPECT_EQ(nopal::mismatch(all, some).in1 - all.begin(), n);
      EXPECT_EQ(nopal::mismatch(all, all, [n](int a, int) { return a != n; }).in2 - all.begin(), n);
      EXPECT_TRUE(nopal::lexicographical_compare(some, all));
      EXPECT_FALSE(nopal::lexicographical_compare(all, some));
      EXPECT_TRUE(nopal::lexicographical_compare(all, all, [n](int a, int b) { return a % (n + 1) < b / (n + 1); }));
      EXPECT_EQ(*nopal::is_sorted_until(all, {}, [n](int x) { return x == n + 1 ? -1 : x; }), n + 1);
      EXPECT_FALSE(nopal::is_sorted(all | std::views::transform([n](int x) { return x % (n + 2); })));
      EXPECT_EQ(*nopal::adjacent_find(all, {}, [n](int x) { return x == n ? n + 1 : x; }), n);
      EXPECT_EQ(*nopal::search(all, std::array{n, n + 1, n + 2}).begin(), n);
      EXPECT_EQ(*nopal::find_first_of(all, std::array{n + 3, n, n + 1}), n);
      EXPECT_EQ(*nopal::find_if_not(all, [n](int x) { return x != n; }), n);
      EXPECT_FALSE(nopal::is_partitioned(all, [n](int x) { return x < n || x == n + 100; }));
    }
    EXPECT_THROW(static_cast<void>(nopal::equal(std::views::iota(std::int8_t{0}), std::views::iota(std::int8_t{0}))), std::out_of_range);
    EXPECT_THROW(static_cast<void>(nopal::search(std::views::iota(std::int8_t{0}), std::array{5, 5})), std::out_of_range);
    EXPECT_THROW(static_cast<void>(nopal::find_first_of(all, std::vector<int>{})), std::out_of_range);
    EXPECT_TRUE(nopal::search(all, std::vector<int>{}).empty());
  });
}

// Only the searched element ends the memory.
TEST(compare_odd, looks_at_nothing_behind_what_is_found_where_memory_may_end) {
  test::everywhere([] {
    for (const std::size_t n : {std::size_t{3}, std::size_t{100}, std::size_t{3000}}) {
      std::vector<int> v(n);  // checked by AddressSanitizer
      for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<int>(i);
      const int last = v.back();
      const auto at_end = [&](auto it) { return it - v.data() == static_cast<std::ptrdiff_t>(n) - 1; };
      constexpr std::unreachable_sentinel_t no_end;
      EXPECT_TRUE(
          at_end(nopal::mismatch(v.data(), no_end, std::views::iota(0).begin(), no_end, [=](int a, int) { return a != last; }).in1));
      EXPECT_TRUE(at_end(nopal::mismatch(v.data(), no_end, v.begin(), v.end() - 1).in1));
      EXPECT_TRUE(at_end(nopal::is_sorted_until(v.data(), no_end, {}, [=](int x) { return x == last ? -1 : x; })));
      EXPECT_TRUE(at_end(nopal::adjacent_find(v.data(), no_end, {}, [=](int x) { return x == last ? last - 1 : x; }) + 1));
      EXPECT_TRUE(at_end(nopal::search(v.data(), no_end, v.begin() + 1, v.end()).begin() + (n - 2)));
      EXPECT_TRUE(at_end(nopal::find_first_of(v.data(), no_end, v.end() - 1, v.end())));
      EXPECT_TRUE(at_end(nopal::find_if_not(v.data(), no_end, [=](int x) { return x != last; })));
      EXPECT_FALSE(nopal::is_partitioned(v.data(), no_end, [=](int x) { return x == last; }));
    }
  });
}

struct ends_with_zero {
  friend bool operator==(const char* it, ends_with_zero) { return *it == 0; }
};

TEST(compare_odd, walks_to_an_end) {
  test::everywhere([] {
    for (const std::size_t n : {0U, 1U, 2U, 63U, 1000U, 100'000U}) {
      const std::string text(n, 'x');
      const std::ranges::subrange walked{text.c_str(), ends_with_zero{}};
      EXPECT_TRUE(nopal::equal(walked, text));
      EXPECT_TRUE(nopal::equal(walked, walked));
      EXPECT_FALSE(nopal::equal(walked, text + "x"));
      EXPECT_FALSE(nopal::equal(text + "x", walked));
      EXPECT_EQ(nopal::mismatch(walked, text + "y").in1 - text.c_str(), static_cast<std::ptrdiff_t>(n));
      EXPECT_TRUE(nopal::lexicographical_compare(walked, text + "a"));
      EXPECT_EQ(nopal::is_sorted_until(walked) - text.c_str(), static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(nopal::adjacent_find(walked) - text.c_str(), static_cast<std::ptrdiff_t>(n < 2 ? n : 0));
      EXPECT_EQ(nopal::search(walked, std::string{"xx"}).empty(), n < 2);
      EXPECT_EQ(nopal::search(walked, std::string{"xy"}).begin() - text.c_str(), static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(nopal::search(text, walked).begin() - text.begin(), 0);
      EXPECT_EQ(nopal::find_end(walked, std::string{"x"}).begin() - text.c_str(), static_cast<std::ptrdiff_t>(n == 0 ? 0 : n - 1));
      EXPECT_EQ(nopal::find_first_of(walked, std::string{"abc"}) - text.c_str(), static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(nopal::find_first_of(walked, std::string{}) - text.c_str(), static_cast<std::ptrdiff_t>(n));
      EXPECT_TRUE(nopal::is_partitioned(walked, [](char c) { return c == 'x'; }));
      EXPECT_TRUE(nopal::includes(walked, walked));
      EXPECT_EQ(nopal::includes(text, text + "x"), false);
      if (n > 0) {
        EXPECT_EQ(nopal::max(walked), 'x');
      }
    }
  });
}

TEST(compare_odd, says_where_of_ranges_that_die) {
  EXPECT_TRUE((std::is_same_v<decltype(nopal::mismatch(std::vector<int>{}, std::vector<int>{}).in1), std::ranges::dangling>));
  EXPECT_TRUE((std::is_same_v<decltype(nopal::search(std::vector<int>{}, std::vector<int>{})), std::ranges::dangling>));
  EXPECT_TRUE((std::is_same_v<decltype(nopal::find_end(std::vector<int>{}, std::vector<int>{})), std::ranges::dangling>));
  EXPECT_TRUE((std::is_same_v<decltype(nopal::find_first_of(std::vector<int>{}, std::vector<int>{})), std::ranges::dangling>));
  EXPECT_TRUE((std::is_same_v<decltype(nopal::is_sorted_until(std::vector<int>{})), std::ranges::dangling>));
  EXPECT_TRUE((std::is_same_v<decltype(nopal::adjacent_find(std::vector<int>{})), std::ranges::dangling>));
}

// Alone, the least is the greatest too: where it is moved away, it is read once.
TEST(compare_odd, copies_the_greatest_of_what_is_moved_away) {
  test::everywhere([] {
    for (const std::size_t n : {1U, 2U, 64U}) {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < n; ++i) texts.push_back("a text that is too long for its object, " + std::to_string(i + 100));
      const auto expected = std::ranges::minmax(texts);
      const auto found = nopal::minmax(texts | std::views::transform([](std::string& x) -> std::string&& { return std::move(x); }));
      EXPECT_EQ(found.min, expected.min);
      EXPECT_EQ(found.max, expected.max);
    }
  });
}

// ---- Values that are hard to copy, or are not copied at all.

template <class T>
class compare_hostile : public testing::Test {};
using kinds = testing::Types<test::hostile::greedy, test::hostile::two_copies, test::hostile::without_operators,
                             test::hostile::with_other_operators, test::hostile::only_moves, test::hostile::wide>;
TYPED_TEST_SUITE(compare_hostile, kinds);

TYPED_TEST(compare_hostile, are_compared) {
  using T = TypeParam;
  test::everywhere([] {
    for (const std::size_t n : {2U, 64U, 5000U}) {
      std::vector<T> v, w;
      for (std::size_t i = 0; i < n; ++i) {
        v.push_back(T::make(static_cast<long>(i / 2)));
        w.push_back(T::make(static_cast<long>(i / 2)));
      }
      w.back() = T::make(static_cast<long>(n));
      const auto last = static_cast<std::ptrdiff_t>(n) - 1;
      const auto number = [](const T& x) { return x.get(); };
      EXPECT_FALSE(nopal::equal(v, w, {}, number, number));
      const auto same = [](const T& a, const T& b) { return a.get() == b.get(); };
      const auto less = [](const T& a, const T& b) { return a.get() < b.get(); };
      EXPECT_EQ(nopal::mismatch(v, w, same).in1 - v.begin(), last);
      EXPECT_TRUE(nopal::lexicographical_compare(v, w, less));
      EXPECT_TRUE(nopal::is_sorted(v, less));
      EXPECT_EQ(nopal::adjacent_find(v, same) - v.begin(), 0);
      EXPECT_EQ(nopal::search(v, v, same).begin() - v.begin(), 0);
      EXPECT_EQ(nopal::find_end(w, w, same).begin() - w.begin(), 0);
      EXPECT_EQ(nopal::find_first_of(v, w, same) - v.begin(), 0);
      EXPECT_TRUE(nopal::is_partitioned(v, [](const T& x) { return x.get() < 7; }));
      EXPECT_TRUE(nopal::includes(v, v, less));
      EXPECT_FALSE(nopal::includes(v, w, less));
      if constexpr (std::copyable<T>) {
        EXPECT_EQ(nopal::min(w, less).get(), 0);
        EXPECT_EQ(nopal::max(w, less).get(), static_cast<long>(n));
        EXPECT_EQ(nopal::minmax(w, less).max.get(), static_cast<long>(n));
        EXPECT_EQ(nopal::max({T::make(1), T::make(3)}, less).get(), 3);
      }
    }
  });
}

}  // namespace

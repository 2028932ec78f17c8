// Algorithms on sorted ranges, and algorithms that sort a part of one: the set algorithms, inplace_merge, partial_sort and
// partial_sort_copy, beside the standard library's.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/merge.hpp"
#include "nopal/algorithm/set_operations.hpp"
#include "nopal/algorithm/sort.hpp"

namespace {

/// A number, and its origin, so that equal numbers differ.
struct marked {
  int key = -1;
  int from = -1;
  int place = -1;
  bool operator==(const marked&) const = default;
};
struct marked_text : marked {
  std::string text = "what makes it no cheap value";
  bool operator==(const marked_text&) const = default;
};

template <class T>
std::vector<T> sorted(const std::vector<int>& keys, int from) {
  auto in_order = keys;
  std::ranges::sort(in_order);
  std::vector<T> result(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    result[i].key = in_order[i];
    result[i].from = from;
    result[i].place = static_cast<int>(i);
  }
  return result;
}

/// Calls check(std's, ours) with each of the four.
template <class Check>
void each_of_four(Check check) {
  check(std::ranges::set_union, nopal::set_union);
  check(std::ranges::set_intersection, nopal::set_intersection);
  check(std::ranges::set_difference, nopal::set_difference);
  check(std::ranges::set_symmetric_difference, nopal::set_symmetric_difference);
}

template <class T>
void forms_sets() {
  test::everywhere([] {
    for (const std::size_t n : {0U, 1U, 2U, 3U, 64U, 1000U, 5000U, test::sanitized ? 9001U : 30'011U}) {
      for (const std::size_t m : {std::size_t{0}, std::size_t{1}, n / 3, n, 3 * n}) {
        for (const std::uint64_t below : {1U, 2U, 5U, 1000U, 1'000'000U}) {
          const auto a = sorted<T>(test::numbers<int>(n, below), 1);
          const auto b = sorted<T>(test::numbers<int>(m, below, 2), 2);
          std::vector<T> out(n + m);
          std::vector<T> expected(n + m);
          each_of_four([&](auto theirs, auto ours) {
            std::ranges::fill(out, T{});
            std::ranges::fill(expected, T{});
            const auto ends = ours(a, b, out.begin(), {}, &T::key, &T::key);
            const auto ends_by_std = theirs(a, b, expected.begin(), {}, &T::key, &T::key);
            EXPECT_EQ(ends.out - out.begin(), ends_by_std.out - expected.begin());
            EXPECT_TRUE(out == expected) << n << ' ' << m << ' ' << below;
          });
          EXPECT_EQ(nopal::set_union(a, b, out.begin(), {}, &T::key, &T::key).in2, b.end());
          EXPECT_EQ(nopal::set_difference(a, b, out.begin(), {}, &T::key, &T::key).in, a.end());
        }
      }
    }
  });
}
TEST(sorted, forms_sets_of_what_is_cheap) { forms_sets<marked>(); }
TEST(sorted, forms_sets_of_what_is_not) { forms_sets<marked_text>(); }

TEST(sorted, forms_sets_of_other_ranges) {
  test::everywhere([] {
    const auto threes = std::views::iota(0, 30'000) | std::views::transform([](int i) { return 3 * i; });
    const auto twos = std::views::iota(0, 30'000) | std::views::transform([](int i) { return 2L * i; });
    std::deque<long> out(60'000);
    std::vector<long> expected(60'000);
    each_of_four([&](auto theirs, auto ours) {
      const auto count = ours(threes, twos, out.begin()).out - out.begin();
      EXPECT_EQ(count, theirs(threes, twos, expected.begin()).out - expected.begin());
      EXPECT_TRUE(std::equal(out.begin(), out.begin() + count, expected.begin()));
    });
    // By another order, and of strings.
    std::vector<std::string> a;
    std::vector<std::string> b;
    for (int i = 0; i < 9000; ++i) a.push_back(std::to_string(i));
    for (int i = 0; i < 9000; ++i) b.push_back(std::to_string(7 * i));
    std::ranges::sort(a, std::ranges::greater{});
    std::ranges::sort(b, std::ranges::greater{});
    std::vector<std::string> texts(18'000);
    std::vector<std::string> texts_by_std(18'000);
    each_of_four([&](auto theirs, auto ours) {
      ours(a, b, texts.begin(), std::ranges::greater{});
      theirs(a, b, texts_by_std.begin(), std::ranges::greater{});
      EXPECT_TRUE(texts == texts_by_std);
    });
    int q[3] = {1, 2, 2};
    int r[2] = {2, 3};
    int both[5];
    EXPECT_EQ(nopal::set_union(q, q + 3, r, r + 2, both).out, both + 4);
    EXPECT_EQ(nopal::set_symmetric_difference(q, q + 3, r, r + 2, both).out, both + 3);
  });
}

// Nothing outside the ranges and the output is accessed.
TEST(sorted, forms_something_of_what_is_not_sorted) {
  test::everywhere([] {
    const auto a = test::numbers<int>(20'000, 1000);
    const auto b = test::numbers<int>(10'000, 1000, 2);
    std::vector<int> out(30'000);
    each_of_four([&](auto, auto ours) {
      EXPECT_LE(ours(a, b, out.begin()).out - out.begin(), 30'000);
      EXPECT_LE(ours(a, b, out.begin(), [](int x, int y) { return (x ^ y) % 3 != 0; }).out - out.begin(), 30'000);
    });
  });
}

TEST(sorted, merges_in_place_stably) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      for (const std::size_t k : {std::size_t{0}, std::min(n, std::size_t{1}), n / 3, n / 2, n - n / 10, n}) {
        for (const std::uint64_t below : {3U, 1'000'000U}) {
          const auto keys = test::numbers<int>(n, below);
          const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(k);
          auto v = sorted<marked>({keys.begin(), middle}, 1);
          const auto right = sorted<marked>({middle, keys.end()}, 2);
          std::vector<marked> expected(n);
          std::ranges::merge(v, right, expected.begin(), {}, &marked::key, &marked::key);
          v.insert(v.end(), right.begin(), right.end());
          EXPECT_EQ(nopal::inplace_merge(v, v.begin() + static_cast<std::ptrdiff_t>(k), {}, &marked::key), v.end());
          EXPECT_TRUE(v == expected);
        }
      }
    }
    std::deque<test::only_moves> moved;
    for (int i = 0; i < 50'000; ++i) moved.emplace_back(i < 20'000 ? 2 * i : 2 * (i - 20'000) + 1);
    nopal::inplace_merge(moved.begin(), moved.begin() + 20'000, moved.end(), {}, &test::only_moves::get);
    EXPECT_TRUE(std::ranges::is_sorted(moved, {}, &test::only_moves::get));
  });
}

TEST(sorted, sorts_a_part) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      for (const std::uint64_t below : {2U, 1000U, 1'000'000'000U}) {
        const auto v = test::numbers<int>(n, below);
        auto all = v;
        std::ranges::sort(all);
        for (const std::size_t k : {std::size_t{0}, std::min(n, std::size_t{1}), std::min(n, std::size_t{10}), n / 50, n / 2, n}) {
          auto w = v;
          const auto middle = w.begin() + static_cast<std::ptrdiff_t>(k);
          EXPECT_EQ(nopal::partial_sort(w, middle), w.end());
          EXPECT_TRUE(std::equal(w.begin(), middle, all.begin()));
          std::ranges::sort(w);
          EXPECT_TRUE(w == all);
          std::vector<int> out(k);
          const auto ends = nopal::partial_sort_copy(v, out);
          EXPECT_EQ(ends.in, v.end());
          EXPECT_EQ(ends.out, out.end());
          EXPECT_TRUE(std::equal(out.begin(), out.end(), all.begin()));
          std::vector<std::string> texts(k);
          std::vector<std::string> texts_by_std(k);
          const auto by_text = [&](auto way, auto& to) {
            way(v | std::views::transform([](int x) { return std::to_string(x); }), to, std::ranges::greater{}, std::identity{},
                std::identity{});
          };
          if (n > 5000) continue;
          by_text(nopal::partial_sort_copy, texts);
          by_text(std::ranges::partial_sort_copy, texts_by_std);
          EXPECT_TRUE(texts == texts_by_std);
        }
        std::vector<int> more(n + 3, -7);
        EXPECT_EQ(nopal::partial_sort_copy(v.begin(), v.end(), more.begin(), more.end()).out, more.end() - 3);
        EXPECT_TRUE(std::equal(all.begin(), all.end(), more.begin()));
      }
    }
    // In reverse no part gives a useful bound.
    std::vector<int> v(100'000);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<int>(v.size() - i);
    std::vector<int> first(100);
    nopal::partial_sort_copy(v, first);
    EXPECT_TRUE(std::ranges::equal(first, std::views::iota(1, 101)));
    nopal::partial_sort(v, v.begin() + 100);
    EXPECT_TRUE(std::ranges::equal(v | std::views::take(100), std::views::iota(1, 101)));
    std::vector<test::only_moves> moved;
    for (const int x : test::numbers<int>(20'000, 1000)) moved.emplace_back(x);
    nopal::partial_sort(moved.begin(), moved.begin() + 50, moved.end(), std::ranges::greater{}, &test::only_moves::get);
    EXPECT_TRUE(std::is_sorted(moved.begin(), moved.begin() + 50, [](auto& a, auto& b) { return a.get() > b.get(); }));
  });
}

TEST(sorted, ends_alike_on_any_number_of_workers) {
  std::vector<std::vector<marked>> results;
  auto v = sorted<marked>(test::numbers<int>(100'000, 300), 1);
  for (std::size_t i = 0; i < v.size(); ++i) std::swap(v[i], v[test::mix(i) % v.size()]);
  for (const std::ptrdiff_t k : {50, 30'000}) {
    results.clear();
    test::everywhere([&] {
      std::vector<marked> first(static_cast<std::size_t>(k));
      nopal::partial_sort_copy(v, first, {}, &marked::key, &marked::key);
      auto& result = results.emplace_back(v);
      nopal::partial_sort(result, result.begin() + k, {}, &marked::key);
      result.insert(result.end(), first.begin(), first.end());
    });
    for (const auto& result : results) EXPECT_TRUE(result == results[0]);
  }
}

TEST(sorted, loses_nothing_where_a_comparator_throws) {
  test::everywhere([] {
    for (const std::size_t n : {2U, 7U, 65U, 3000U, 140'000U}) {
      auto all = test::numbers<int>(n, 1'000'000);
      std::ranges::sort(all);
      const auto half = static_cast<std::ptrdiff_t>(n / 2);
      std::vector<int> halves;
      for (std::size_t i = 0; i < n; i += 2) halves.push_back(all[i]);
      const auto middle = static_cast<std::ptrdiff_t>(halves.size());
      for (std::size_t i = 1; i < n; i += 2) halves.push_back(all[i]);
      for (std::size_t at = 0; at < n; at += n < 100 ? 1 : n / 3) {
        std::atomic<std::size_t> calls{0};
        const auto throws = [&](int a, int b) {
          if (calls++ == at) throw test::thrown{at};
          return a < b;
        };
        const auto may_throw = [&](const auto& f) {
          calls = 0;
          try {
            f();
          } catch (const test::thrown&) {
          }
        };
        auto w = halves;
        may_throw([&] { nopal::inplace_merge(w, w.begin() + middle, throws); });
        std::ranges::sort(w);
        EXPECT_TRUE(w == all);
        w = halves;
        may_throw([&] { nopal::partial_sort(w, w.begin() + half, throws); });
        std::ranges::sort(w);
        EXPECT_TRUE(w == all);
        w = halves;
        std::vector<int> out(n, -1);
        may_throw([&] { nopal::partial_sort_copy(w, std::ranges::subrange(out.begin(), out.begin() + half), throws); });
        EXPECT_TRUE(w == halves);
        calls = 0;
        EXPECT_THROW(nopal::set_union(all, all, out.begin(), throws), test::thrown) << "of twice as many comparisons";
      }
    }
  });
}

}  // namespace

// reverse, rotate, swap_ranges, replace, remove, stable_partition, copies and moves, and algorithms that take a number of elements, beside
// the standard library's.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/copy.hpp"
#include "nopal/algorithm/fill.hpp"
#include "nopal/algorithm/for_each.hpp"
#include "nopal/algorithm/partition.hpp"
#include "nopal/algorithm/remove.hpp"
#include "nopal/algorithm/replace.hpp"
#include "nopal/algorithm/reverse.hpp"

namespace {

bool is_odd(int x) { return x % 2 != 0; }
bool is_few(int x) { return x % 100 == 7; }
bool never(int) { return false; }
bool always(int) { return true; }

/// Its moves may throw, so that no buffer takes it; one of them does, from `left` on.
struct moves_or_throws {
  static inline std::atomic<int> left = 0;
  int value;
  explicit moves_or_throws(int v) : value{v} {}
  moves_or_throws(moves_or_throws&& o) : value{o.value} { count(); }
  moves_or_throws& operator=(moves_or_throws&& o) {
    count();
    value = o.value;
    return *this;
  }
  static void count() {
    if (left.load() > 0 && left.fetch_sub(1) == 1) throw test::thrown{1};
  }
};

TEST(rewrite, reverses_and_rotates) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<int>(n);
      auto w = v;
      auto expected = v;
      std::ranges::reverse(expected);
      EXPECT_EQ(nopal::reverse(w), w.end());
      EXPECT_TRUE(w == expected);
      nopal::reverse(w.begin(), w.end());
      EXPECT_TRUE(w == v);
      const auto reversed = nopal::reverse_copy(v, w.begin());
      EXPECT_EQ(reversed.in, v.end());
      EXPECT_EQ(reversed.out, w.end());
      EXPECT_TRUE(w == expected);
      for (const std::size_t k : {std::size_t{0}, std::min(n, std::size_t{1}), n / 3, n / 2, n - n / 5, n}) {
        const auto at = static_cast<std::ptrdiff_t>(k);
        w = expected = v;
        std::ranges::rotate(expected, expected.begin() + at);
        const auto rest = nopal::rotate(w, w.begin() + at);
        EXPECT_EQ(rest.begin(), w.end() - at);
        EXPECT_EQ(rest.end(), w.end());
        EXPECT_TRUE(w == expected);
        std::vector<int> out(n);
        const auto ends = nopal::rotate_copy(v, v.begin() + at, out.begin());
        EXPECT_EQ(ends.in, v.end());
        EXPECT_EQ(ends.out, out.end());
        EXPECT_TRUE(out == expected);
        nopal::rotate(w.begin(), w.end() - at, w.end());
        EXPECT_TRUE(w == v);
      }
    }
    std::deque<test::only_moves> moved;
    for (int i = 0; i < 5000; ++i) moved.emplace_back(i);
    nopal::rotate(moved, moved.begin() + 1234);
    nopal::reverse(moved);
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(moved[static_cast<std::size_t>(i)].get(), (4999 - i + 1234) % 5000);
    EXPECT_TRUE((std::is_same_v<decltype(nopal::reverse(std::vector<int>{})), std::ranges::dangling>));
  });
}

TEST(rewrite, swaps_copies_and_moves) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      auto a = test::numbers<int>(n);
      const auto of_a = a;
      auto b = test::numbers<int>(n + 3, 1000, 2);
      const auto of_b = b;
      const auto ends = nopal::swap_ranges(a, b);
      EXPECT_EQ(ends.in1, a.end());
      EXPECT_EQ(ends.in2, b.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_TRUE(std::ranges::equal(a, of_b | std::views::take(n)));
      EXPECT_TRUE(std::ranges::equal(b | std::views::take(n), of_a));
      EXPECT_TRUE(std::equal(ends.in2, b.end(), of_b.end() - 3));
      std::deque<int> out(n);
      EXPECT_EQ(nopal::copy(of_a, out.begin()).out, out.end());
      EXPECT_TRUE(std::ranges::equal(out, of_a));
      EXPECT_EQ(nopal::copy(std::views::iota(0, static_cast<int>(n)), out.begin()).out, out.end());
      EXPECT_TRUE(std::ranges::equal(out, std::views::iota(0, static_cast<int>(n))));
      const auto half = static_cast<std::ptrdiff_t>(n / 2);
      const auto some = nopal::copy_n(of_a.begin(), half, out.begin());
      EXPECT_EQ(some.in, of_a.begin() + half);
      EXPECT_EQ(some.out, out.begin() + half);
      EXPECT_TRUE(std::equal(of_a.begin(), some.in, out.begin()));
      EXPECT_EQ(nopal::copy_n(of_a.begin(), -1, out.begin()).in, of_a.begin());
      std::vector<test::only_moves> from;
      std::vector<test::only_moves> to;
      for (const int x : of_a) {
        from.emplace_back(x);
        to.emplace_back(0);
      }
      const auto moved = nopal::move(from, to.begin());
      EXPECT_EQ(moved.in, from.end());
      EXPECT_EQ(moved.out, to.end());
      EXPECT_TRUE(std::ranges::equal(to, of_a, {}, &test::only_moves::get));
      EXPECT_TRUE(std::ranges::all_of(from, [](const auto& x) { return x.value == nullptr; }));
    }
  });
}

TEST(rewrite, replaces_and_removes) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<int>(n, 10);
      const auto half = [](int x) { return x / 2; };
      auto w = v;
      auto expected = v;
      std::ranges::replace(expected, 3, 77, half);
      EXPECT_EQ(nopal::replace(w, 3, 77, half), w.end());
      EXPECT_TRUE(w == expected);
      std::ranges::replace_if(expected, is_odd, -1);
      EXPECT_EQ(nopal::replace_if(w.begin(), w.end(), is_odd, -1), w.end());
      EXPECT_TRUE(w == expected);
      auto out = v;
      std::ranges::replace_copy(v, expected.begin(), 3, 77, half);
      const auto copied = nopal::replace_copy(v, out.begin(), 3, 77, half);
      EXPECT_EQ(copied.in, v.end());
      EXPECT_EQ(copied.out, out.end());
      EXPECT_TRUE(out == expected);
      std::ranges::replace_copy_if(v, expected.begin(), is_odd, 5);
      EXPECT_EQ(nopal::replace_copy_if(v, out.begin(), is_odd, 5).out, out.end());
      EXPECT_TRUE(out == expected);
      w = expected = v;
      const auto rest = nopal::remove(w, 4);
      const auto rest_by_std = std::ranges::remove(expected, 4);
      ASSERT_EQ(rest.size(), rest_by_std.size());
      EXPECT_TRUE(std::equal(w.begin(), rest.begin(), expected.begin()));
      w = v;
      if (n <= 2) continue;
      EXPECT_EQ(nopal::remove(w, w[2]).size(), static_cast<std::size_t>(std::ranges::count(v, v[2]))) << "one of the elements";
    }
    std::vector<std::string> texts(1000, "a text that lies on the heap");
    texts[500] = "another one";
    nopal::replace(texts, "another one", "a");
    nopal::replace_if(texts, [](std::size_t length) { return length > 1; }, "b", &std::string::size);
    EXPECT_EQ(std::ranges::count(texts, "b"), 999);
    EXPECT_EQ(texts[500], "a");
  });
}

TEST(rewrite, partitions_stably) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<int>(n, 1000);
      for (const auto pred : {is_odd, is_few, never, always}) {
        std::vector<int> yes(n, -1);
        std::vector<int> no(n, -1);
        auto yes_by_std = yes;
        auto no_by_std = no;
        const auto ends = nopal::partition_copy(v, yes.begin(), no.begin(), pred);
        const auto ends_by_std = std::ranges::partition_copy(v, yes_by_std.begin(), no_by_std.begin(), pred);
        EXPECT_EQ(ends.in, v.end());
        EXPECT_EQ(ends.out1 - yes.begin(), ends_by_std.out1 - yes_by_std.begin());
        EXPECT_EQ(ends.out2 - no.begin(), ends_by_std.out2 - no_by_std.begin());
        EXPECT_TRUE(yes == yes_by_std);
        EXPECT_TRUE(no == no_by_std);
        std::vector<int> expected(yes.begin(), ends.out1);
        expected.insert(expected.end(), no.begin(), ends.out2);
        auto w = v;
        const auto others = nopal::stable_partition(w, pred);
        EXPECT_EQ(others.begin() - w.begin(), ends.out1 - yes.begin());
        EXPECT_EQ(others.end(), w.end());
        EXPECT_TRUE(w == expected);
        std::vector<moves_or_throws> in_place;
        for (const int x : v) in_place.emplace_back(x);
        nopal::stable_partition(in_place, pred, &moves_or_throws::value);
        EXPECT_TRUE(std::ranges::equal(in_place, expected, {}, &moves_or_throws::value));
      }
    }
    std::deque<test::only_moves> moved;
    for (int i = 0; i < 5000; ++i) moved.emplace_back(i);
    EXPECT_EQ(nopal::stable_partition(moved, is_odd, &test::only_moves::get).size(), 2500U);
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(moved[static_cast<std::size_t>(i)].get(), i < 2500 ? 2 * i + 1 : 2 * (i - 2500));
  });
}

TEST(rewrite, takes_numbers_of_elements) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto count = static_cast<std::ptrdiff_t>(n);
      std::vector<int> v(n + 1, 5);
      EXPECT_EQ(nopal::fill_n(v.begin(), count, 7), v.begin() + count);
      EXPECT_EQ(std::ranges::count(v, 7), count);
      const auto visited = nopal::for_each_n(v.begin(), count, [](int& x) { ++x; });
      EXPECT_EQ(visited.in, v.begin() + count);
      EXPECT_EQ(std::ranges::count(v, 8), count);
      EXPECT_EQ(nopal::generate_n(v.begin(), count, [] { return 9; }), v.begin() + count);
      EXPECT_EQ(std::ranges::count(v, 9), count);
      EXPECT_EQ(v.back(), 5);
    }
    std::vector<int> v(5);
    EXPECT_EQ(nopal::fill_n(v.begin(), -3, 7), v.begin());
    EXPECT_EQ(nopal::for_each_n(v.begin(), -3, [](int& x) { x = 7; }).in, v.begin());
    EXPECT_EQ(nopal::generate_n(v.begin(), -3, [] { return 7; }), v.begin());
    EXPECT_EQ(std::ranges::count(v, 7), 0);
    std::atomic<int> sum{0};
    nopal::for_each_n(std::views::iota(0).begin(), 1000, [&](int i) { sum += i; }, std::negate<>{});
    EXPECT_EQ(sum, -499'500);
  });
}

TEST(rewrite, an_array_and_its_end_are_a_pair_of_iterators) {
  int q[6] = {1, 2, 3, 4, 5, 6};
  int out[6];
  nopal::reverse(q, q + 6);
  nopal::rotate(q, q + 2, q + 6);
  EXPECT_EQ(nopal::rotate_copy(q, q + 4, q + 6, out).out, out + 6);
  EXPECT_EQ(nopal::reverse_copy(out, out + 6, q).out, q + 6);
  EXPECT_TRUE(std::ranges::equal(q, std::views::iota(1, 7)));
  EXPECT_EQ(nopal::swap_ranges(q, q + 3, q + 3, q + 6).in2, q + 6);
  EXPECT_EQ(nopal::copy(q, q + 6, out).out, out + 6);
  EXPECT_EQ(nopal::move(q, q + 6, out).out, out + 6);
  EXPECT_EQ(nopal::replace(q, q + 6, 4, 5), q + 6);
  EXPECT_EQ(nopal::replace_if(q, q + 6, is_odd, 5), q + 6);
  EXPECT_EQ(nopal::replace_copy(q, q + 6, out, 5, 4).out, out + 6);
  EXPECT_EQ(nopal::replace_copy_if(q, q + 6, out, is_odd, 4).out, out + 6);
  EXPECT_EQ(nopal::remove(q, q + 6, 5).begin(), q + 2);
  EXPECT_EQ(nopal::stable_partition(q, q + 6, is_odd).end(), q + 6);
  EXPECT_EQ(nopal::partition_copy(q, q + 2, out, out + 3, always).out2, out + 3);
}

// All that is before the throwing element has been done, and nothing twice; if elements change their places, none is lost.
TEST(rewrite, throws_what_serial_execution_would_have_met_first) {
  test::everywhere([] {
    for (const std::size_t n : {1U, 2U, 7U, 64U, 3000U}) {
      const auto v = test::numbers<int>(n, 1000);
      for (std::size_t at = 0; at < n; at += n < 100 ? 1 : 271) {
        auto w = v;
        const auto throws = [&](const int& x) {
          const auto i = static_cast<std::size_t>(&x - w.data());
          if (i >= at && (i - at) % 50 == 0) throw test::thrown{i};
          return is_odd(x);
        };
        const auto where = [&](const auto& f) {
          try {
            f();
          } catch (const test::thrown& e) {
            return e.where;
          }
          return n;
        };
        std::vector<int> out(n, -1);
        std::vector<int> other(n, -1);
        EXPECT_EQ(where([&] { nopal::partition_copy(w, out.begin(), other.begin(), throws); }), at);
        EXPECT_EQ(where([&] { nopal::stable_partition(w, throws); }), at);
        EXPECT_EQ(where([&] { static_cast<void>(nopal::remove(w, true, throws)); }), at);
        EXPECT_TRUE(w == v);
        EXPECT_EQ(std::ranges::count(out, -1), static_cast<std::ptrdiff_t>(n));
        EXPECT_EQ(where([&] { nopal::replace_copy_if(w, out.begin(), throws, 5000); }), at);
        EXPECT_TRUE(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(at), v.begin(),
                               [](int a, int b) { return a == (is_odd(b) ? 5000 : b); }));
        EXPECT_EQ(where([&] { nopal::replace_if(w, throws, 5000); }), at);
        for (std::size_t i = 0; i < at; ++i) ASSERT_EQ(w[i], is_odd(v[i]) ? 5000 : v[i]);
        std::vector<moves_or_throws> swapped;
        for (const int x : v) swapped.emplace_back(x);
        moves_or_throws::left = static_cast<int>(at) + 1;
        where([&] { nopal::reverse(swapped); });
        EXPECT_EQ(swapped.size(), n);
        moves_or_throws::left = 0;
      }
    }
  });
}

}  // namespace

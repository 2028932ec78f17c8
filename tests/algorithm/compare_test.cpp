// equal, mismatch, lexicographical_compare, is_sorted, is_sorted_until, adjacent_find, search, find_end, find_first_of, find_if_not,
// is_partitioned, includes, min, max and minmax beside the standard library's.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm.hpp"

namespace {

// So few of them take long.
bool slowly(bool answer) {
  for (int i = 0; i < 1000; ++i) std::atomic_signal_fence(std::memory_order::seq_cst);
  return answer;
}

template <class R, class Q>
void compares_as_std(R&& v, Q&& w) {
  EXPECT_EQ(nopal::equal(v, w), std::ranges::equal(v, w));
  EXPECT_EQ(nopal::equal(v.begin(), v.end(), w.begin(), w.end(), std::not_equal_to{}), std::ranges::equal(v, w, std::not_equal_to{}));
  const auto [in1, in2] = std::ranges::mismatch(v, w);
  EXPECT_TRUE(nopal::mismatch(v, w).in1 == in1);
  EXPECT_TRUE(nopal::mismatch(v, w, {}, std::negate<>{}, std::negate<>{}).in2 == in2);
  EXPECT_EQ(nopal::lexicographical_compare(v, w), std::ranges::lexicographical_compare(v, w));
  EXPECT_EQ(nopal::lexicographical_compare(w, v), std::ranges::lexicographical_compare(w, v));
  EXPECT_EQ(nopal::lexicographical_compare(v, w, std::greater{}), std::ranges::lexicographical_compare(v, w, std::greater{}));
  EXPECT_EQ(nopal::lexicographical_compare(v, w, {}, std::negate<>{}, std::negate<>{}),
            std::ranges::lexicographical_compare(v, w, {}, std::negate<>{}, std::negate<>{}));
}

TEST(compare, compares_two_ranges) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<int>(n, 1000);
      auto w = v;
      compares_as_std(v, w);
      compares_as_std(v, std::deque<int>(v.begin(), v.end()));
      compares_as_std(std::views::iota(0, static_cast<int>(n)), v);
      for (const std::size_t at : {std::size_t{0}, n / 3, n - 1}) {
        if (at >= n) continue;
        for (const int x : {-1, 2000}) {
          w[at] = x;
          compares_as_std(v, w);
          compares_as_std(std::deque<int>(v.begin(), v.end()), w);
        }
        w[at] = v[at];
      }
      w.push_back(1);
      compares_as_std(v, w);
    }
    const std::vector<double> zeros(3000, 0.0), others(3000, -0.0);
    EXPECT_TRUE(nopal::equal(zeros, others));
    const std::vector<int> ints(3000, 1);
    EXPECT_TRUE(nopal::equal(ints, std::vector<long>(3000, 1)));
    EXPECT_FALSE(nopal::equal(ints, ints, [](int, int) { return false; }));
    const std::string text(3000, 'x');
    EXPECT_TRUE(nopal::lexicographical_compare(text, text + "x"));
    EXPECT_FALSE(nopal::lexicographical_compare(text + "x", text));
  });
}

template <class R>
void looks_at_neighbours_as_std(R&& v) {
  EXPECT_EQ(nopal::is_sorted(v), std::ranges::is_sorted(v));
  EXPECT_TRUE(nopal::is_sorted_until(v) == std::ranges::is_sorted_until(v));
  EXPECT_TRUE(nopal::is_sorted_until(v.begin(), v.end(), std::ranges::greater{}, std::negate<>{}) == std::ranges::is_sorted_until(v));
  EXPECT_TRUE(nopal::adjacent_find(v) == std::ranges::adjacent_find(v));
  EXPECT_TRUE(nopal::adjacent_find(v.begin(), v.end(), std::greater<>{}) == std::ranges::adjacent_find(v, std::greater<>{}));
  for (const int x : {-1, 100, 500, 5000}) {
    const auto less = [x](int y) { return y < x; };
    EXPECT_EQ(nopal::is_partitioned(v, less), std::ranges::is_partitioned(v, less));
    EXPECT_EQ(nopal::is_partitioned(v.begin(), v.end(), less, std::negate<>{}), std::ranges::is_partitioned(v, less, std::negate<>{}));
    EXPECT_TRUE(nopal::find_if_not(v, less) == std::ranges::find_if_not(v, less));
    EXPECT_TRUE(nopal::find_if_not(v.begin(), v.end(), less) == std::ranges::find_if_not(v, less));
  }
}

TEST(compare, looks_at_neighbours) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      auto v = test::numbers<int>(n, 1000);
      looks_at_neighbours_as_std(v);
      std::ranges::sort(v);
      looks_at_neighbours_as_std(v);
      looks_at_neighbours_as_std(std::deque<int>(v.begin(), v.end()));
      looks_at_neighbours_as_std(std::views::iota(0, static_cast<int>(n)));
      if (n < 2) continue;
      for (const std::size_t at : {n / 2, n - 1}) {
        const int before = std::exchange(v[at], -1);
        looks_at_neighbours_as_std(v);
        v[at] = before;
      }
    }
  });
}

template <class R, class Q>
void finds_as_std(R&& v, Q&& pattern) {
  const auto same = [](const auto& a, const auto& b) { return a.begin() == b.begin() && a.end() == b.end(); };
  const auto negated = [](int x) { return -x; };
  EXPECT_TRUE(same(nopal::search(v, pattern), std::ranges::search(v, pattern)));
  EXPECT_TRUE(
      same(nopal::search(v.begin(), v.end(), pattern.begin(), pattern.end(), {}, negated, negated), std::ranges::search(v, pattern)));
  EXPECT_TRUE(same(nopal::find_end(v, pattern), std::ranges::find_end(v, pattern)));
  EXPECT_TRUE(
      same(nopal::find_end(v.begin(), v.end(), pattern.begin(), pattern.end(), {}, negated, negated), std::ranges::find_end(v, pattern)));
  if (v.size() * pattern.size() > 1'000'000) return;
  EXPECT_TRUE(nopal::find_first_of(v, pattern) == std::ranges::find_first_of(v, pattern));
  EXPECT_TRUE(nopal::find_first_of(v.begin(), v.end(), pattern.begin(), pattern.end(), std::less<>{}) ==
              std::ranges::find_first_of(v, pattern, std::less<>{}));
}

TEST(compare, finds_patterns) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<int>(n, 10);
      for (const std::size_t length : {0U, 1U, 2U, 5U, 100U, 70'000U}) {
        for (const std::size_t at : {std::size_t{0}, n / 2, n - std::min(n, length)}) {
          if (at + length > n) continue;
          const auto from = v.begin() + static_cast<std::ptrdiff_t>(at);
          std::vector<int> pattern(from, from + static_cast<std::ptrdiff_t>(length));
          finds_as_std(v, pattern);
          if (length == 0) continue;
          pattern.back() = 10;
          finds_as_std(v, pattern);
          if (length < 1000) finds_as_std(v | std::views::reverse, std::deque<int>(pattern.begin(), pattern.end()));
        }
      }
      finds_as_std(v, std::vector<int>(n + 1, 11));
    }
    // Each place begins a match, none is one.
    const std::vector<int> same(1000, 3);
    std::vector<int> pattern(200, 3);
    finds_as_std(same, pattern);
    pattern.front() = pattern.back() = 4;
    finds_as_std(same, pattern);
    pattern.front() = 3;
    finds_as_std(same, pattern);
  });
}

template <class R, class Q>
void includes_as_std(const R& v, const Q& w) {
  EXPECT_EQ(nopal::includes(v, w), std::ranges::includes(v, w)) << testing::PrintToString(w);
  const auto less = [](int a, int b) { return slowly(a > b); };
  EXPECT_EQ(nopal::includes(v.begin(), v.end(), w.begin(), w.end(), less, std::negate<>{}, std::negate<>{}), std::ranges::includes(v, w));
}

TEST(compare, includes_each_as_often) {
  test::everywhere([] {
    for (unsigned seed = 0; seed < 200; ++seed) {
      auto v = test::numbers<int>(seed % 40, 1 + seed % 7, seed);
      auto w = test::numbers<int>(seed % 17, 1 + seed % 7, seed + 1000);
      std::ranges::sort(v);
      std::ranges::sort(w);
      includes_as_std(v, w);
    }
    for (const std::size_t n : test::sizes) {
      for (const unsigned below : {1U, 3U, 50U, 1'000'000U}) {
        auto v = test::numbers<int>(n, below);
        std::ranges::sort(v);
        for (const std::size_t every : {1U, 2U, 100U}) {
          std::vector<int> w;
          for (std::size_t i = 0; i < n; i += every) w.push_back(v[i]);
          EXPECT_TRUE(nopal::includes(v, w));
          if (n < 10'000) includes_as_std(v, w);
          if (w.empty()) continue;
          for (const std::size_t at : {std::size_t{0}, w.size() / 2, w.size() - 1}) {
            auto other = w;
            other.insert(other.begin() + static_cast<std::ptrdiff_t>(at), other[at]);
            EXPECT_EQ(nopal::includes(v, other), std::ranges::includes(v, other)) << n << ' ' << below << ' ' << every << ' ' << at;
            EXPECT_FALSE(nopal::includes(w, other));
            other.push_back(static_cast<int>(below));
            EXPECT_FALSE(nopal::includes(v, other));
          }
        }
      }
      const auto ints = std::views::iota(0, static_cast<int>(n));
      EXPECT_EQ(nopal::includes(ints, std::vector<int>{0, 1}), n > 1);
      EXPECT_FALSE(nopal::includes(ints, std::vector<int>{0, 0, 1}));
    }
    // Ranges that are not sorted: nothing outside them is read.
    nopal::includes(test::numbers<int>(50'000, 1000), test::numbers<int>(20'000, 1000));
  });
}

TEST(compare, copies_the_least_and_the_greatest) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      if (n == 0) continue;
      const auto v = test::numbers<int>(n, 100'000);
      const auto tens = [](int x) { return x / 10; };
      EXPECT_EQ(nopal::min(v), std::ranges::min(v));
      EXPECT_EQ(nopal::max(v), std::ranges::max(v));
      EXPECT_EQ(nopal::min(v, {}, tens), std::ranges::min(v, {}, tens));
      EXPECT_EQ(nopal::max(v, std::greater{}, tens), std::ranges::max(v, std::greater{}, tens));
      EXPECT_EQ(nopal::minmax(v, {}, tens).min, std::ranges::minmax(v, {}, tens).min);
      EXPECT_EQ(nopal::minmax(v, {}, tens).max, std::ranges::minmax(v, {}, tens).max);
      const auto texts = v | std::views::transform([](int x) { return std::to_string(x); });
      EXPECT_EQ(nopal::max(texts), std::ranges::max(texts));
      EXPECT_EQ(nopal::minmax(texts).min, std::ranges::min(texts));
    }
  });
  EXPECT_EQ(nopal::min({3, 1, 2}), 1);
  EXPECT_EQ(nopal::max({3, 1, 2}, std::ranges::greater{}), 1);
  EXPECT_EQ(nopal::minmax({3, 1, 2}).max, 3);
  const std::vector<bool> bits = {true, false};
  EXPECT_FALSE(nopal::min(bits));
  EXPECT_TRUE(nopal::max(bits));
  const int one = 1, two = 2;
  EXPECT_EQ(&nopal::min(two, one), &one);
  EXPECT_EQ(&nopal::max(one, two, {}, std::negate<>{}), &one);
  EXPECT_EQ(&nopal::minmax(two, one).min, &one);
  static_assert(nopal::max(3, 4) == 4);
  const std::list<int> list{1}, longer{1, 2};
  EXPECT_EQ(&nopal::max(list, longer), &longer);
}

// ---- As std::ranges: the same place, or the same exception, at any throwing call.

template <class F>
std::string outcome(F f) {
  try {
    return std::to_string(f());
  } catch (const test::thrown& e) {
    return "thrown at " + std::to_string(e.where);
  }
}

TEST(compare, throws_what_serial_execution_would_have_met_first) {
  test::everywhere([] {
    for (const std::size_t n : {2U, 7U, 64U, 3000U}) {
      std::vector<int> v(n), rising(n), halves(n), set = {8, 7, 9};
      for (std::size_t i = 0; i < n; ++i) {
        v[i] = i % 3 == 0 ? 1 : 0;
        rising[i] = static_cast<int>(i);
        halves[i] = i < n / 2 ? 0 : 1;
      }
      for (std::size_t hit = 0; hit <= n; hit += n < 10 ? 1 : n / 9) {
        for (std::size_t at = 0; at < n; at += n < 10 ? 1 : n / 13) {
          const auto with_throws = [&](const std::vector<int>& all, auto call) {
            const auto throws = [&](const int& x) {
              const auto i = static_cast<std::size_t>(&x - all.data());
              if (i >= at && i < all.size() && (i - at) % 20 == 0) throw test::thrown{i};
              return x;
            };
            return outcome([&] { return static_cast<long>(call(throws)); });
          };
          const auto agree = [&](const std::vector<int>& all, auto serial, auto parallel, char const* name) {
            EXPECT_EQ(with_throws(all, parallel), with_throws(all, serial)) << name << ' ' << n << ' ' << hit << ' ' << at;
          };
#define AGREE(all, call)             \
  agree(                             \
      all,                           \
      [&](auto p) {                  \
        namespace way = std::ranges; \
        return call;                 \
      },                             \
      [&](auto p) {                  \
        namespace way = nopal;       \
        return call;                 \
      },                             \
      #call)
          auto w = v;
          if (hit < n) w[hit] = 5;
          AGREE(v, way::equal(v, w, {}, p));
          AGREE(v, way::mismatch(v, w, {}, p).in1 - v.begin());
          AGREE(v, way::lexicographical_compare(v, w, {}, p));
          auto falls = rising;
          if (hit < n) falls[hit] = -1;
          AGREE(falls, way::is_sorted(falls, {}, p));
          AGREE(falls, way::is_sorted_until(falls, {}, p) - falls.begin());
          auto twice = rising;
          if (hit > 0 && hit < n) twice[hit] = twice[hit - 1];
          AGREE(twice, way::adjacent_find(twice, {}, p) - twice.begin());
          auto has = v;
          if (hit + 2 < n) has[hit] = 1, has[hit + 1] = 7, has[hit + 2] = 8;
          const std::array pattern = {1, 7, 8};
          // A serial search may or may not look at places where no match can begin any more.
          const auto inside = [&](auto p) {
            return [&has, p](const int& x) { return &x - has.data() < 2 || has.data() + has.size() - &x <= 2 ? x : p(x); };
          };
          AGREE(has, way::search(has, pattern, {}, inside(p)).begin() - has.begin());
          AGREE(has, way::find_end(has, pattern, {}, inside(p)).begin() - has.begin());
          AGREE(has, way::find_first_of(has, set, {}, p) - has.begin());
          AGREE(set, way::find_first_of(has, set, {}, {}, p) - has.begin());
          AGREE(v, way::find_if_not(w, [](int x) { return x != 5; }, p) - w.begin());
          auto parted = halves;
          if (hit < n) parted[hit] = 0;
          AGREE(parted, way::is_partitioned(parted, [](int x) { return x == 0; }, p));
#undef AGREE
          // For sorted ranges the exception depends on how they are split.
          EXPECT_NE(with_throws(rising, [&](auto p) { return nopal::includes(rising, rising, {}, p); }), "1");
          EXPECT_NE(with_throws(rising, [&](auto p) { return nopal::min(rising, {}, p); }), "0");
        }
      }
    }
  });
}

TEST(compare, ends_early) {
  std::vector<int> v(1'000'000);
  v[1000] = 1;
  std::atomic<std::size_t> asked{0};
  const auto counted = [&](int x) {
    asked.fetch_add(1, std::memory_order::relaxed);
    return x;
  };
  nopal::pool pool{{.workers = 1}};
  pool.run([&] {
    EXPECT_FALSE(nopal::equal(v, std::vector<int>(v.size()), {}, counted));
    EXPECT_EQ(nopal::is_sorted_until(v, {}, counted) - v.begin(), 1001);
    EXPECT_EQ(nopal::search(v, std::vector{1, 0}, {}, counted).begin() - v.begin(), 1000);
    EXPECT_EQ(nopal::find_first_of(v, std::vector{2, 1}, {}, counted) - v.begin(), 1000);
    EXPECT_FALSE(nopal::is_partitioned(v, [](int x) { return x == 1; }, counted));
    EXPECT_FALSE(nopal::includes(std::views::iota(0, 1'000'000), std::vector<int>(900'000, 7), {}, {}, counted));
  });
  EXPECT_LT(asked.load(), 30'000U);
}

}  // namespace

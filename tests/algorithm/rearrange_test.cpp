// copy_if, remove_if, unique, partition, nth_element and merge beside the standard library's.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/copy.hpp"
#include "nopal/algorithm/merge.hpp"
#include "nopal/algorithm/partition.hpp"
#include "nopal/algorithm/remove.hpp"
#include "nopal/algorithm/sort.hpp"

namespace {

bool is_odd(int x) { return x % 2 != 0; }
bool is_few(int x) { return x % 100 == 7; }
bool never(int) { return false; }
bool always(int) { return true; }

TEST(rearrange, keeps_and_removes_in_order) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<int>(n, 1000);
      for (const auto pred : {is_odd, is_few, never, always}) {
        std::vector<int> out(n, -1);
        std::vector<int> expected(n, -1);
        const auto kept = nopal::copy_if(v, out.begin(), pred);
        const auto kept_by_std = std::ranges::copy_if(v, expected.begin(), pred);
        const auto count = kept_by_std.out - expected.begin();
        EXPECT_EQ(kept.in, v.end());
        EXPECT_EQ(kept.out - out.begin(), count);
        EXPECT_TRUE(out == expected);
        auto rest = v;
        auto rest_by_std = v;
        const auto removed = nopal::remove_if(rest.begin(), rest.end(), pred);
        const auto removed_by_std = std::ranges::remove_if(rest_by_std, pred);
        EXPECT_EQ(removed.end(), rest.end());
        ASSERT_EQ(removed.size(), removed_by_std.size());
        EXPECT_TRUE(std::equal(rest.begin(), removed.begin(), rest_by_std.begin()));
        auto parts = v;
        const auto others = nopal::partition(parts, pred);
        EXPECT_EQ(others.end(), parts.end());
        ASSERT_EQ(others.begin() - parts.begin(), count);
        EXPECT_TRUE(std::ranges::is_partitioned(parts, pred));
        std::ranges::sort(parts);
        auto sorted = v;
        std::ranges::sort(sorted);
        EXPECT_TRUE(parts == sorted);
      }
      for (const int divisor : {1, 10, 1000}) {
        auto w = v;
        std::ranges::sort(w);
        auto expected = w;
        const auto same = [divisor](int x) { return x / divisor; };
        const auto rest = nopal::unique(w, {}, same);
        const auto rest_by_std = std::ranges::unique(expected, {}, same);
        ASSERT_EQ(rest.size(), rest_by_std.size());
        EXPECT_TRUE(std::equal(w.begin(), rest.begin(), expected.begin()));
      }
    }
  });
}

TEST(rearrange, takes_deques_members_and_what_can_only_be_moved) {
  test::everywhere([] {
    const auto v = test::numbers<int>(150'000, 1000);
    const auto odd = [](const test::only_moves& x) { return is_odd(x.get()); };
    std::deque<test::only_moves> moved;
    for (const int x : v) moved.emplace_back(x);
    const auto even_ones = nopal::partition(moved, is_odd, &test::only_moves::get);
    EXPECT_EQ(even_ones.begin() - moved.begin(), std::ranges::count_if(v, is_odd));
    EXPECT_TRUE(std::ranges::is_partitioned(moved, odd));
    std::vector<test::only_moves> again;
    for (const int x : v) again.emplace_back(x);
    const auto removed = nopal::remove_if(again, odd);
    again.erase(removed.begin(), removed.end());
    std::vector<int> even;
    std::ranges::copy_if(v, std::back_inserter(even), std::not_fn(is_odd));
    EXPECT_TRUE(std::ranges::equal(again, even, {}, &test::only_moves::get));
    const auto rest = nopal::unique(again, {}, &test::only_moves::get);
    const auto rest_of_even = std::ranges::unique(even);
    EXPECT_EQ(rest.size(), rest_of_even.size());
    std::vector<test::wide> wide(1000, test::wide{3});
    std::vector<test::wide> out(1000, test::wide{0});
    nopal::copy_if(wide, out.begin(), is_odd, &test::wide::value);
    EXPECT_TRUE(out == wide);
    EXPECT_TRUE((std::is_same_v<decltype(nopal::partition(std::vector<int>{}, is_odd)), std::ranges::dangling>));
  });
}

TEST(rearrange, partitions_alike_on_any_number_of_workers) {
  std::vector<std::vector<int>> results;
  const auto v = test::numbers<int>(700'001, 1000);
  test::everywhere([&] { nopal::partition(results.emplace_back(v), is_odd); });
  for (const auto& result : results) EXPECT_TRUE(result == results[0]);
}

// Whether a call takes long is measured, so both ways must end in the same order: of what is cheap to copy, and of what is not.
TEST(rearrange, partitions_alike_whether_it_asks_first_or_not) {
  const auto partitions = [](auto at_once, auto asked_first, const auto& goes_left) {
    const auto middle = nopal::core::algorithms::partition_parallel(at_once.begin(), at_once.end(), goes_left);
    const auto middle_asked_first = nopal::core::algorithms::partition_slowly(asked_first.begin(), asked_first.end(), goes_left);
    EXPECT_EQ(middle - at_once.begin(), middle_asked_first - asked_first.begin());
    EXPECT_TRUE(std::ranges::is_partitioned(asked_first, goes_left));
    EXPECT_TRUE(std::ranges::equal(at_once, asked_first, [](const auto& a, const auto& b) { return !(a < b) && !(b < a); }));
  };
  for (const unsigned workers : test::pools) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    pool.run([&] {
      for (const std::size_t n : {0U, 1U, 2U, 63U, 127U, 128U, 129U, 1000U, 140'003U}) {
        const auto v = test::numbers<int>(n, 1000);
        const std::deque<int> deque(v.begin(), v.end());
        std::vector<std::string> strings;
        for (const int x : v) strings.push_back(std::to_string(x));
        const auto moved = [&] { return std::vector<test::only_moves>(v.begin(), v.end()); };
        for (const auto pred : {is_odd, is_few, never, always}) partitions(v, v, pred);
        for (const auto pred : {is_odd, is_few}) {
          partitions(deque, deque, pred);
          partitions(strings, strings, [pred](const std::string& s) { return pred(std::stoi(s)); });
          partitions(moved(), moved(), [pred](const test::only_moves& x) { return pred(x.get()); });
        }
      }
    });
  }
}

// Patterns at the boundaries of the blocks or the parts of a partition.
TEST(rearrange, partitions_patterns) {
  test::everywhere([] {
    for (const std::size_t n : {100U, 128U, 129U, 1000U, 400'003U}) {
      for (const std::size_t period : {1U, 63U, 64U, 1024U, 13U * 1024U, 100'000U, 300'000U}) {
        std::vector<int> v(n);
        for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<int>(i / period % 2);
        auto w = v;
        std::ranges::reverse(w);
        const auto odd = std::ranges::count_if(v, is_odd);
        EXPECT_EQ(nopal::partition(v, is_odd).begin() - v.begin(), odd);
        EXPECT_EQ(nopal::partition(w, is_odd).begin() - w.begin(), odd);
        EXPECT_TRUE(std::ranges::is_partitioned(v, is_odd));
        EXPECT_TRUE(std::ranges::is_partitioned(w, is_odd));
        EXPECT_EQ(std::ranges::count_if(v, is_odd), odd);
        EXPECT_EQ(std::ranges::count_if(w, is_odd), odd);
      }
    }
  });
}

TEST(rearrange, the_nth_element_is_where_it_would_be) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      if (n == 0) continue;
      for (const std::uint64_t below : {2U, 1000U, 1'000'000U}) {
        const auto v = test::numbers<int>(n, below);
        auto sorted = v;
        std::ranges::sort(sorted);
        for (const std::size_t k : {std::size_t{0}, n / 3, n / 2, n - 1, n}) {
          auto w = v;
          const auto nth = w.begin() + static_cast<std::ptrdiff_t>(k);
          EXPECT_EQ(nopal::nth_element(w, nth), w.end());
          if (k == n) continue;
          ASSERT_EQ(*nth, sorted[k]);
          EXPECT_TRUE(std::all_of(w.begin(), nth, [&](int x) { return x <= *nth; }));
          EXPECT_TRUE(std::all_of(nth, w.end(), [&](int x) { return x >= *nth; }));
          std::ranges::sort(w);
          EXPECT_TRUE(w == sorted);
        }
      }
    }
    std::vector<int> none;
    EXPECT_EQ(nopal::nth_element(none, none.begin()), none.end());
    std::vector<test::only_moves> moved;
    for (const int x : test::numbers<int>(200'000)) moved.emplace_back(x);
    nopal::nth_element(moved.begin(), moved.begin() + 1000, moved.end(), std::ranges::greater{}, &test::only_moves::get);
    EXPECT_EQ(std::ranges::count_if(moved, [&](const auto& x) { return x.get() > moved[1000].get(); }), 1000);
  });
}

// Of many elements the pivot comes from a sample: also where the data has a pattern.
TEST(rearrange, the_nth_element_of_patterns_is_where_it_would_be) {
  const std::vector<std::function<int(int, int)>> patterns{
      [](int i, int) { return i; },                               // in order
      [](int i, int n) { return n - i; },                         // reversed
      [](int, int) { return 7; },                                 // all equal
      [](int i, int n) { return i < n / 2 ? i : n - i; },         // up and down
      [](int i, int) { return i % 64; },                          // a saw
      [](int i, int n) { return i % (n / 512) == 0 ? -1 : i; },   // the least at even distances
      [](int i, int n) { return i < n / 64 ? n + i : i % 1000; }  // the greatest first
  };
  test::everywhere([&] {
    for (const int n : {16'384, 50'000}) {
      for (const auto& pattern : patterns) {
        std::vector<int> v;
        for (int i = 0; i < n; ++i) v.push_back(pattern(i, n));
        auto sorted = v;
        std::ranges::sort(sorted);
        for (const int k : {0, 1, n / 64, n / 2 - 1, n / 2, n - 2, n - 1}) {
          auto w = v;
          nopal::nth_element(w, w.begin() + k);
          ASSERT_EQ(w[static_cast<std::size_t>(k)], sorted[static_cast<std::size_t>(k)]) << n << ' ' << k;
          ASSERT_LE(*std::max_element(w.begin(), w.begin() + k + 1), *std::min_element(w.begin() + k, w.end()));
          std::ranges::sort(w);
          EXPECT_TRUE(w == sorted);
        }
      }
    }
  });
}

// By medians of samples it would be some 2 n.
TEST(rearrange, the_nth_element_of_many_takes_few_comparisons) {
  for (const std::size_t n : {std::size_t{100'000}, std::size_t{1'000'000}}) {
    for (const std::size_t k : {n / 100, n / 2, n - n / 100}) {
      auto v = test::numbers<int>(n);
      std::atomic<std::uint64_t> comparisons{0};
      nopal::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(k), [&](int a, int b) {
        comparisons.fetch_add(1, std::memory_order_relaxed);
        return a < b;
      });
      EXPECT_LT(comparisons, k == n / 2 ? n * 18 / 10 : n * 12 / 10) << n << ' ' << k;
    }
  }
}

TEST(rearrange, merges_stably) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      for (const std::size_t m : {std::size_t{0}, std::size_t{1}, n / 2, n, 3 * n}) {
        for (const std::uint64_t below : {3U, 100'000U}) {
          std::vector<std::pair<int, int>> a;
          std::vector<std::pair<int, int>> b;
          for (const int x : test::numbers<int>(n, below)) a.emplace_back(x, 1);
          for (const int x : test::numbers<int>(m, below, 2)) b.emplace_back(-x, 2);
          std::ranges::sort(a);
          std::ranges::sort(b, std::greater<>{}, &std::pair<int, int>::first);
          std::vector<std::pair<int, int>> out(n + m);
          auto expected = out;
          const auto negative = [](const std::pair<int, int>& x) { return -x.first; };
          const auto ends = nopal::merge(a, b, out.begin(), {}, &std::pair<int, int>::first, negative);
          std::ranges::merge(a, b, expected.begin(), {}, &std::pair<int, int>::first, negative);
          EXPECT_EQ(ends.in1, a.end());
          EXPECT_EQ(ends.in2, b.end());
          EXPECT_EQ(ends.out, out.end());
          EXPECT_TRUE(out == expected);
        }
      }
    }
  });
}

// If the predicate throws, nothing has been moved, since it is called first. partition swaps between calls, and loses nothing.
TEST(rearrange, loses_nothing_where_a_predicate_throws) {
  test::everywhere([] {
    for (const std::size_t n : {1U, 2U, 7U, 65U, 3000U, 140'000U}) {
      const auto v = test::numbers<int>(n, 1000);
      auto sorted = v;
      std::ranges::sort(sorted);
      for (std::size_t at = 0; at < n; at += n < 100 ? 1 : n / 5) {
        auto w = v;
        const auto throws = [&](const int& x) {
          const auto i = static_cast<std::size_t>(&x - w.data());
          if (i >= at && (i - at) % 20 == 0) throw test::thrown{i};
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
        EXPECT_EQ(where([&] { nopal::copy_if(w, out.begin(), throws); }), at);
        EXPECT_EQ(std::ranges::count(out, -1), static_cast<std::ptrdiff_t>(n));
        EXPECT_EQ(where([&] { static_cast<void>(nopal::remove_if(w, throws)); }), at);
        EXPECT_TRUE(w == v);
        std::atomic<std::size_t> calls{0};
        const auto throws_late = [&](int x) {
          if (calls++ == at) throw test::thrown{at};
          return is_odd(x);
        };
        EXPECT_EQ(where([&] { nopal::partition(w, throws_late); }), at);
        std::ranges::sort(w);
        EXPECT_TRUE(w == sorted);
        w = v;
        calls = 0;
        const auto throws_comparing = [&](int a, int b) {
          if (calls++ == at) throw test::thrown{at};
          return a < b;
        };
        const std::size_t thrown_at =
            where([&] { nopal::nth_element(w, w.begin() + static_cast<std::ptrdiff_t>(n / 2), throws_comparing); });
        EXPECT_TRUE(thrown_at == at || (thrown_at == n && n < 3));
        std::ranges::sort(w);
        EXPECT_TRUE(w == sorted);
        std::vector<int> merged(2 * n);
        calls = 0;
        EXPECT_EQ(where([&] { nopal::merge(sorted, sorted, merged.begin(), throws_comparing); }), at);
      }
    }
  });
}

}  // namespace

// Algorithms that compare: sorts, merges, sets, extremes, as those without a policy.

#include <deque>
#include <functional>
#include <iterator>
#include <set>

#include "places.hpp"

namespace {

using namespace test;

template <class Range>
void sorts_as_without_policy(std::uint64_t different, std::size_t most) {
  in_all_sizes(
      [different](auto& policy, std::size_t n) {
        Range v = values<Range>(n, different);
        Range expected = values<Range>(n, different);
        std::sort(policy, v.begin(), v.end());
        std::sort(expected.begin(), expected.end());
        EXPECT_TRUE(v == expected);
        EXPECT_TRUE(std::is_sorted(policy, v.begin(), v.end()));
        std::sort(policy, v.begin(), v.end(), std::greater<>{});
        std::reverse(expected.begin(), expected.end());
        EXPECT_TRUE(v == expected);
      },
      most);
}
TEST(order, of_whole_numbers) { sorts_as_without_policy<std::vector<int>>(1'000'000, 100'003); }
TEST(order, of_real_numbers_in_a_deque) { sorts_as_without_policy<std::deque<double>>(1000, 100'003); }
TEST(order, of_strings) { sorts_as_without_policy<std::vector<std::string>>(1000, some); }
TEST(order, of_what_is_only_moved) { sorts_as_without_policy<std::vector<only_moved>>(1000, some); }

TEST(order, stable_sort_keeps_equal_elements_in_order) {
  in_all_sizes([](auto& policy, std::size_t n) {
    std::vector<std::pair<int, std::size_t>> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = {nth<int>(i, 50), i};
    std::stable_sort(policy, v.begin(), v.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
  });
}

TEST(order, of_the_first_elements) {
  in_all_sizes(
      [](auto& policy, std::size_t n) {
        const std::vector<std::string> v = vector_of<std::string>(n, 100'000);
        std::vector<std::string> expected = v;
        std::sort(expected.begin(), expected.end());
        for (const std::size_t k : {std::size_t{1}, n / 100, n / 2, n}) {
          if (k > n) continue;
          const auto first = static_cast<std::ptrdiff_t>(k);
          std::vector<std::string> w = v;
          std::partial_sort(policy, w.begin(), w.begin() + first, w.end());
          EXPECT_TRUE(std::equal(w.begin(), w.begin() + first, expected.begin()));
          std::vector<std::string> out(k);
          EXPECT_EQ(std::partial_sort_copy(policy, v.begin(), v.end(), out.begin(), out.end()), out.end());
          EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()));
          if (k == n) continue;
          w = v;
          std::nth_element(policy, w.begin(), w.begin() + first, w.end());
          EXPECT_EQ(w[k], expected[k]);
        }
        std::vector<std::string> longer(n + 3);
        EXPECT_EQ(std::partial_sort_copy(policy, v.begin(), v.end(), longer.begin(), longer.end()) - longer.begin(),
                  static_cast<std::ptrdiff_t>(n));
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), longer.begin()));
      },
      some);
}

// Such a comparator may give any order, but it must lose nothing and end.
TEST(order, of_an_inconsistent_comparator_loses_nothing) {
  in_all_sizes([](auto& policy, std::size_t n) {
    std::vector<int> v = vector_of<int>(n, 1'000'000);
    std::vector<int> expected = v;
    std::sort(policy, v.begin(), v.end(),
              [](int a, int b) { return mix(static_cast<std::uint64_t>(a) * 1'000'003 + static_cast<std::uint64_t>(b)) % 2 == 0; });
    std::sort(v.begin(), v.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(v, expected);
  });
}

TEST(order, of_merged_ranges) {
  in_all_sizes([](auto& policy, std::size_t n) {
    using pair = std::pair<int, int>;  // a key, and which range it is from
    const auto less = [](const pair& a, const pair& b) { return a.first < b.first; };
    std::vector<pair> a(n);
    std::vector<pair> b(n / 2);
    for (std::size_t i = 0; i < n; ++i) a[i] = {nth<int>(i, 500), 0};
    for (std::size_t i = 0; i < n / 2; ++i) b[i] = {nth<int>(i + n, 700), 1};
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<pair> both(a.size() + b.size());
    EXPECT_EQ(std::merge(policy, a.begin(), a.end(), b.begin(), b.end(), both.begin(), less), both.end());
    EXPECT_TRUE(std::is_sorted(both.begin(), both.end()));
    std::vector<pair> in_place = a;
    in_place.insert(in_place.end(), b.begin(), b.end());
    std::inplace_merge(policy, in_place.begin(), in_place.begin() + static_cast<std::ptrdiff_t>(n), in_place.end(), less);
    EXPECT_EQ(in_place, both);
  });
}

TEST(order, inplace_merge_moves_strings) {
  in_all_sizes(
      [](auto& policy, std::size_t n) {
        std::vector<std::string> v = vector_of<std::string>(n);
        const auto middle = v.begin() + static_cast<std::ptrdiff_t>(n / 3);
        std::sort(v.begin(), middle);
        std::sort(middle, v.end());
        std::vector<std::string> expected = v;
        std::sort(expected.begin(), expected.end());
        std::inplace_merge(policy, v.begin(), middle, v.end());
        EXPECT_EQ(v, expected);
      },
      some);
}

template <class T>
void sets_as_without_policy(std::size_t most) {
  in_all_sizes(
      [](auto& policy, std::size_t n) {
        const std::vector<T> a = sorted_of<T>(n, n / 2 + 1);
        std::vector<T> b = sorted_of<T>(n / 2, n / 3 + 1);
        const auto same = [&](auto with, auto without) {
          std::vector<T> c(a.size() + b.size());
          std::vector<T> d(a.size() + b.size());
          c.erase(with(c.begin()), c.end());
          d.erase(without(d.begin()), d.end());
          EXPECT_TRUE(c == d);
        };
        same([&](auto out) { return std::set_union(policy, a.begin(), a.end(), b.begin(), b.end(), out); },
             [&](auto out) { return std::set_union(a.begin(), a.end(), b.begin(), b.end(), out); });
        same([&](auto out) { return std::set_intersection(policy, a.begin(), a.end(), b.begin(), b.end(), out); },
             [&](auto out) { return std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), out); });
        same([&](auto out) { return std::set_difference(policy, a.begin(), a.end(), b.begin(), b.end(), out); },
             [&](auto out) { return std::set_difference(a.begin(), a.end(), b.begin(), b.end(), out); });
        same([&](auto out) { return std::set_symmetric_difference(policy, a.begin(), a.end(), b.begin(), b.end(), out); },
             [&](auto out) { return std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), out); });
        EXPECT_EQ(std::includes(policy, a.begin(), a.end(), b.begin(), b.end()), std::includes(a.begin(), a.end(), b.begin(), b.end()));
      },
      most);
}
TEST(order, sets_of_numbers) { sets_as_without_policy<int>(100'003); }
TEST(order, sets_of_strings) { sets_as_without_policy<std::string>(some); }

TEST(order, the_first_of_equal_extremes_is_found) {
  in_all_sizes([](auto& policy, std::size_t n) {
    const std::vector<double> v = vector_of<double>(n, 20);
    EXPECT_EQ(std::min_element(policy, v.begin(), v.end()), std::min_element(v.begin(), v.end()));
    EXPECT_EQ(std::max_element(policy, v.begin(), v.end()), std::max_element(v.begin(), v.end()));
    EXPECT_EQ(std::minmax_element(policy, v.begin(), v.end()), std::minmax_element(v.begin(), v.end()));
    std::vector<double> heap = v;
    std::make_heap(heap.begin(), heap.end());
    EXPECT_TRUE(std::is_heap(policy, heap.begin(), heap.end()));
    EXPECT_EQ(std::is_heap_until(policy, v.begin(), v.end()), std::is_heap_until(v.begin(), v.end()));
    EXPECT_EQ(std::is_sorted_until(policy, v.begin(), v.end()), std::is_sorted_until(v.begin(), v.end()));
  });
}

}  // namespace

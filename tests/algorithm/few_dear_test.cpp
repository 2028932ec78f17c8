// Two to eight elements whose comparisons take long, all pairs of which are compared at once: sort, stable_sort, nth_element, partial_sort,
// inplace_merge and merge must end as where comparisons are quick, and lose nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/pairs.hpp"
#include "nopal/algorithm/merge.hpp"
#include "nopal/algorithm/partition.hpp"
#include "nopal/algorithm/sort.hpp"
#include "nopal/algorithm/transform.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/pool.hpp"

namespace {

namespace algorithms = nopal::core::algorithms;

struct record {
  int key;
  int place;
  friend bool operator==(const record&, const record&) = default;
};
struct text {
  explicit text(const record& r) : key{r.key}, words{std::to_string(r.place) + ": what makes it no cheap value"} {}
  int key;
  std::string words;
  friend bool operator==(const text&, const text&) = default;
};
/// May throw where it is moved, as far as a compiler can see: so it is sorted in place.
struct anxious : record {
  explicit anxious(const record& r) : record{r} {}
  anxious(const anxious& other) noexcept(false) : record{other} {}
  anxious& operator=(const anxious& other) noexcept(false) {
    record::operator=(other);
    return *this;
  }
};

/// Has a type of its own, whose cost no other test learns.
struct by_key {
  bool operator()(const auto& a, const auto& b) const { return a.key < b.key; }
};
struct by_key_slowly : by_key {};

/// From now on comparisons by Comp seem to take a second, until they are measured.
template <class Comp, class Proj = std::identity>
void seem_dear() {
  nopal::core::cost_of<algorithms::projected_less<Comp, Proj>>.learn(1e6 * nopal::core::ticks_per_microsecond());
}

/// All sequences of n keys of 0 to `below` - 1.
template <class T, class Check>
void each_sequence(std::size_t n, int below, Check check) {
  std::vector<int> keys(n);
  for (;;) {
    std::vector<T> v;
    for (std::size_t i = 0; i < n; ++i) v.push_back(T(record{keys[i], static_cast<int>(i)}));
    check(v);
    std::size_t i = 0;
    while (i < n && ++keys[i] == below) keys[i++] = 0;
    if (i == n) return;
  }
}
/// All orders of n different keys.
template <class Check>
void each_order(std::size_t n, Check check) {
  std::vector<record> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back({static_cast<int>(i), 0});
  do {
    auto w = v;
    for (std::size_t i = 0; i < n; ++i) w[i].place = static_cast<int>(i);
    check(w);
  } while (std::ranges::next_permutation(v, {}, &record::key).found);
}
/// Those, and what has equal elements.
template <class Check>
void each_input(Check check) {
  for (std::size_t n = 2; n <= 6; ++n) each_order(n, check);
  for (std::size_t n = 2; n <= 5; ++n) each_sequence<record>(n, 3, check);
  for (std::size_t n = 6; n <= 8; ++n) each_sequence<record>(n, 2, check);
}

/// Sorts both parts of v, the first of which has `left` elements.
template <class V>
void sort_halves(V& v, std::ptrdiff_t left) {
  const V first = test::stably_sorted(V(v.begin(), v.begin() + left), by_key{});
  const V second = test::stably_sorted(V(v.begin() + left, v.end()), by_key{});
  v = first;
  v.insert(v.end(), second.begin(), second.end());
}

template <class F>
void on_some(F f) {
  for (const unsigned workers : {2U, 3U, 4U}) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    pool.run(f);
  }
}

// ---- The sort and the merges by pairs themselves.

TEST(few_dear, are_sorted_by_pairs_stably) {
  on_some([] {
    each_input([](const std::vector<record>& v) {
      const auto expected = test::stably_sorted(v, by_key{});
      auto w = v;
      algorithms::sort_by_pairs(w.begin(), w.size(), by_key{});
      EXPECT_TRUE(w == expected);
      std::deque<text> texts(v.begin(), v.end());
      algorithms::sort_by_pairs(texts.begin(), texts.size(), by_key{});
      EXPECT_TRUE(std::ranges::equal(texts, std::vector<text>(expected.begin(), expected.end())));
    });
  });
}

TEST(few_dear, are_merged_by_pairs_stably) {
  on_some([] {
    for (std::size_t left = 1; left <= 8; ++left) {
      for (std::size_t right = 1; right <= 8; ++right) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
          const std::size_t n = left + right;
          std::vector<record> v;
          for (const int key : test::numbers(n, seed % 4 == 0 ? 100 : 4, seed)) v.push_back({key, static_cast<int>(v.size())});
          sort_halves(v, static_cast<std::ptrdiff_t>(left));
          const auto expected = test::stably_sorted(v, by_key{});
          auto w = v;
          algorithms::merge_in_place_by_pairs(w.begin(), left, n, by_key{});
          EXPECT_TRUE(w == expected) << left << ' ' << right;
          w = v;
          std::vector<record> to(n);
          algorithms::merge_runs_by_pairs(w.data(), to.data(), left, n, by_key{});
          EXPECT_TRUE(to == expected) << left << ' ' << right;
        }
      }
    }
  });
}

// Nothing is lost, and nothing outside the range is accessed (AddressSanitizer would see it), whatever a comparator answers.
TEST(few_dear, end_in_some_order_by_any_comparator) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    constexpr std::size_t n = 4;
    for (unsigned answers = 0; answers < 1U << n * (n - 1); ++answers) {
      const auto no_order = [answers](const test::only_moves& a, const test::only_moves& b) {
        const int column = b.get() - (b.get() > a.get() ? 1 : 0);
        return a.get() != b.get() && (answers >> (3 * a.get() + column) & 1) != 0;
      };
      std::vector<test::only_moves> v;
      for (int i = 0; i < static_cast<int>(n); ++i) v.emplace_back(i);
      algorithms::sort_by_pairs(v.data(), n, no_order);
      algorithms::merge_in_place_by_pairs(v.data(), 2, n, no_order);
      unsigned seen = 0;
      for (const auto& x : v) seen |= 1U << x.get();
      ASSERT_EQ(seen, 0b1111U) << answers;
    }
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      std::array<int, 8> v{0, 1, 2, 3, 4, 5, 6, 7};
      const auto no_order = [seed](int a, int b) { return test::mix(seed * 64 + static_cast<std::uint64_t>(a * 8 + b)) % 2 == 0; };
      algorithms::sort_by_pairs(v.data(), v.size(), no_order);
      algorithms::merge_in_place_by_pairs(v.data(), seed % 7 + 1, v.size(), no_order);
      std::ranges::sort(v);
      for (int i = 0; i < 8; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)], i);
    }
  });
}

TEST(few_dear, stay_where_a_comparison_throws) {
  on_some([] {
    for (std::size_t n = 2; n <= 8; ++n) {
      for (std::size_t at = 0; at < algorithms::pairs_of(n); ++at) {
        std::vector<test::only_moves> v;
        for (std::size_t i = 0; i < n; ++i) v.emplace_back(static_cast<int>(n - i));
        std::atomic<std::size_t> calls{0};
        const auto throws = [&](const test::only_moves& a, const test::only_moves& b) {
          if (calls++ == at) throw test::thrown{at};
          return a < b;
        };
        EXPECT_THROW(algorithms::sort_by_pairs(v.data(), n, throws), test::thrown);
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(v[i].get(), static_cast<int>(n - i)) << "moved before all answers were there";
        if (const std::size_t half = n / 2; at < half * (n - half)) {
          calls = 0;
          EXPECT_THROW(algorithms::merge_in_place_by_pairs(v.data(), half, n, throws), test::thrown);
          for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(v[i].get(), static_cast<int>(n - i));
          const algorithms::raw_buffer<test::only_moves> room{n};
          calls = 0;
          EXPECT_THROW(algorithms::merge_runs_by_pairs(v.data(), room.data(), half, n, throws), test::thrown);
          algorithms::carry(room.data(), v.data(), n);  // where they were to be
          for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(v[i].get(), static_cast<int>(n - i));
        }
      }
    }
  });
}

TEST(few_dear, throw_what_the_first_pair_throws) {
  on_some([] {
    std::array<int, 8> v{0, 1, 2, 3, 4, 5, 6, 7};
    for (int j = 1; j < 8; ++j) {
      for (int i = 0; i < j; ++i) {
        const auto throws_from_there_on = [i, j](int b, int a) {
          if (b > j || (b == j && a >= i)) throw std::pair{a, b};
          return b < a;
        };
        try {
          algorithms::sort_by_pairs(v.data(), v.size(), throws_from_there_on);
          ADD_FAILURE() << "nothing was thrown";
        } catch (const std::pair<int, int>& pair) {
          EXPECT_EQ(pair, std::pair(i, j));
        }
      }
    }
  });
}

// ---- What users call.

/// Calls algorithm(v, comp) with what seems dear and with what does not, and compares the results.
template <class T, class Algorithm>
void ends_alike(const std::vector<T>& v, Algorithm algorithm) {
  auto quickly = v;
  auto slowly = v;
  algorithm(quickly, by_key{});
  seem_dear<by_key_slowly>();
  algorithm(slowly, by_key_slowly{});
  EXPECT_TRUE(slowly == quickly) << v.size();
}

template <class T>
void end_as_quick_ones(const std::vector<T>& v) {
  ends_alike(v, [](auto& w, auto comp) { nopal::sort(w, comp); });
  ends_alike(v, [](auto& w, auto comp) { nopal::stable_sort(w, comp); });
  for (auto k = static_cast<std::ptrdiff_t>(v.size()); k >= 0; k -= 1 + k / 4) {
    ends_alike(v, [k](auto& w, auto comp) { nopal::nth_element(w, w.begin() + k, comp); });
    ends_alike(v, [k](auto& w, auto comp) { nopal::partial_sort(w, w.begin() + k, comp); });
    ends_alike(v, [k](auto& w, auto comp) {
      const auto from = w;
      w.resize(static_cast<std::size_t>(k), from[0]);
      nopal::partial_sort_copy(from, w, comp);
    });
    auto halves = v;
    sort_halves(halves, k);
    ends_alike(halves, [k](auto& w, auto comp) { nopal::inplace_merge(w, w.begin() + k, comp); });
    ends_alike(halves, [k](auto& w, auto comp) {
      const auto from = w;
      nopal::merge(std::span(from.begin(), from.begin() + k), std::span(from.begin() + k, from.end()), w.begin(), comp);
    });
  }
}

TEST(few_dear, end_as_quick_ones_do) {
  on_some([] {
    for (std::size_t n = 2; n <= 4; ++n) each_order(n, [](const auto& v) { end_as_quick_ones(v); });
    for (std::size_t n = 2; n <= 4; ++n) each_sequence<record>(n, 3, [](const auto& v) { end_as_quick_ones(v); });
    for (const std::size_t n : {5U, 6U, 7U, 8U, 9U, 16U, 33U}) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        std::vector<record> v;
        for (const int key : test::numbers(n, n / 2 + 1, seed)) v.push_back({key, static_cast<int>(v.size())});
        end_as_quick_ones(v);
        end_as_quick_ones(std::vector<text>(v.begin(), v.end()));
        end_as_quick_ones(std::vector<anxious>(v.begin(), v.end()));
      }
    }
  });
}

TEST(few_dear, that_can_only_be_moved_are_sorted_by_projections) {
  on_some([] {
    struct slowly : std::ranges::less {};
    const auto key = [](const test::only_moves& x) { return x.get(); };
    each_order(5, [&](const std::vector<record>& v) {
      std::deque<test::only_moves> moved;
      for (const record& r : v) moved.emplace_back(r.key);
      seem_dear<slowly, std::remove_const_t<decltype(key)>>();
      nopal::sort(moved, slowly{}, key);
      EXPECT_TRUE(std::ranges::is_sorted(moved, {}, key));
      std::ranges::reverse(moved);
      seem_dear<slowly, std::remove_const_t<decltype(key)>>();
      nopal::nth_element(moved, moved.begin() + 2, slowly{}, key);
      EXPECT_EQ(moved[2].get(), 2);
      seem_dear<slowly, std::remove_const_t<decltype(key)>>();
      nopal::partial_sort(moved, moved.begin() + 1, slowly{}, key);
      EXPECT_EQ(moved[0].get(), 0);
    });
  });
}

TEST(few_dear, are_all_there_where_a_comparison_throws) {
  on_some([] {
    struct counts {
      std::atomic<std::size_t>* calls;
      std::size_t at;
      bool operator()(const test::only_moves& a, const test::only_moves& b) const {
        if ((*calls)++ == at) throw test::thrown{at};
        return a < b;
      }
    };
    for (std::size_t n = 2; n <= 9; ++n) {
      for (std::size_t at = 0; at < algorithms::pairs_of(n); ++at) {
        const auto keeps_all = [&](auto algorithm) {
          std::vector<test::only_moves> v;
          for (std::size_t i = 0; i < n; ++i) v.emplace_back(static_cast<int>(i < n - n / 2 ? 2 * i : 2 * (i - (n - n / 2)) + 1));
          std::atomic<std::size_t> calls{0};
          seem_dear<counts>();
          try {
            algorithm(v, counts{&calls, at});
          } catch (const test::thrown&) {
          }
          std::vector<int> after;
          for (const auto& x : v) after.push_back(x.value ? x.get() : -1);
          std::ranges::sort(after);
          for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(after[i], static_cast<int>(i)) << n << ' ' << at;
        };
        keeps_all([](auto& v, auto comp) { nopal::sort(v, comp); });
        keeps_all([](auto& v, auto comp) { nopal::stable_sort(v, comp); });
        keeps_all([](auto& v, auto comp) { nopal::nth_element(v, v.begin() + 1, comp); });
        keeps_all([](auto& v, auto comp) { nopal::partial_sort(v, v.begin() + 1, comp); });
        keeps_all([](auto& v, auto comp) { nopal::inplace_merge(v, v.end() - static_cast<std::ptrdiff_t>(v.size() / 2), comp); });
      }
    }
  });
}

// What seems dear is measured where it is done, so that a quick call which has once seemed dear is soon known to be quick.
TEST(few_dear, that_only_seem_so_are_known_to_be_quick_afterwards) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    if (nopal::core::shares_by_schedule()) return;
    struct cheap : std::ranges::less {};
    const double dear = 1e6 * nopal::core::ticks_per_microsecond();
    nopal::core::iteration_cost& cost = nopal::core::cost_of<algorithms::projected_less<cheap, std::identity>>;
    const auto is_quick_after = [&](auto algorithm) {
      for (int tries = 0; tries < 20; ++tries) {  // another program may run meanwhile
        cost.learn(dear);
        std::array<int, 4> v{2, 1, 4, 3};
        algorithm(v);
        if (cost.ticks() < dear / 10) return true;
      }
      return false;
    };
    EXPECT_TRUE(is_quick_after([](auto& v) { nopal::sort(v, cheap{}); }));
    EXPECT_TRUE(is_quick_after([](auto& v) { nopal::nth_element(v, v.begin() + 2, cheap{}); }));
    EXPECT_TRUE(is_quick_after([](auto& v) { nopal::inplace_merge(v, v.begin() + 2, cheap{}); }));
    const auto odd = [](int x) { return x % 2 == 1; };
    using asks = algorithms::slow_pack<std::vector<int>::iterator, std::remove_const_t<decltype(odd)>, std::identity>;
    using takes = algorithms::difference_pack<std::vector<int>::iterator, std::vector<int>::iterator, std::minus<>>;
    for (const std::size_t n : {4U, 200U, 3000U}) {
      std::vector<int> v = test::numbers(n);
      std::vector<int> out(n);
      nopal::core::cost_of<asks>.learn(dear);
      nopal::partition(v, odd);
      EXPECT_LT(nopal::core::cost_of<asks>.ticks(), dear / 10);
      nopal::core::cost_of<takes>.learn(dear);
      nopal::adjacent_difference(v.begin(), v.end(), out.begin());
      EXPECT_LT(nopal::core::cost_of<takes>.ticks(), dear / 10);
    }
  });
}

// Where all workers have work, more comparisons would only take more time.
TEST(few_dear, are_sorted_serially_where_nobody_is_free) {
  nopal::pool pool{{.workers = 1}};
  pool.run([] {
    struct counted : by_key {
      int* calls;
      bool operator()(const record& a, const record& b) const { return ++*calls, a.key < b.key; }
    };
    seem_dear<counted>();
    EXPECT_FALSE((algorithms::sorts_by_pairs<algorithms::projected_less<counted, std::identity>>(4)));
    int calls = 0;
    std::vector<record> v{{2, 0}, {1, 1}, {4, 2}, {3, 3}};
    nopal::sort(v, counted{{}, &calls});
    EXPECT_LE(calls, 5 + 2);  // and one or two to measure
  });
}

}  // namespace

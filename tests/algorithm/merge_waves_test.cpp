// The merge of two adjacent runs with a buffer for the shorter one, beside the standard library's: of runs that mix in many ways, forwards
// and backwards, through pointers and other iterators; what is left where a comparison throws; and how often elements move.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/merge_waves.hpp"
#include "nopal/algorithm/merge.hpp"
#include "nopal/pool.hpp"

namespace {

namespace algorithms = nopal::core::algorithms;

/// A number, and where it was, so that equal numbers differ.
struct cheap {
  int key;
  int place;
  cheap(int k, int p) : key{k}, place{p} {}
  bool operator==(const cheap&) const = default;
};
static_assert(algorithms::is_cheap<cheap>);

/// Dies once for each time it is made, and counts its moves.
struct dear {
  int key;
  int place;
  std::string text = "that an owner must free once, and only once";
  dear(int k, int p) : key{k}, place{p} {}
  dear(dear&& from) noexcept : key{from.key}, place{from.place}, text{std::move(from.text)} { ++moves; }
  dear& operator=(dear&& from) noexcept {
    key = from.key;
    place = from.place;
    text = std::move(from.text);
    ++moves;
    return *this;
  }
  ~dear() = default;
  bool operator==(const dear&) const = default;
  static inline std::atomic<std::size_t> moves{0};
};
static_assert(!algorithms::is_cheap<dear>);

constexpr auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };

/// Two sorted runs of keys.
struct runs {
  std::vector<int> left;
  std::vector<int> right;
  [[nodiscard]] std::size_t size() const { return left.size() + right.size(); }
};

/// Runs of n keys together, the left one of them of `half`. Each shape mixes them in another way.
constexpr int shapes = 8;
runs keys(int shape, std::size_t half, std::size_t n) {
  runs made;
  const auto mixed = test::numbers<int>(n, 1'000'000);
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_left = i < half;
    const auto own = static_cast<int>(is_left ? i : i - half);
    const auto size = static_cast<double>(is_left ? half : n - half);
    const double part = own / size;                                                       // how far in its run
    int key = mixed[i];                                                                   // evenly
    if (shape == 1) key = own + (is_left ? 0 : 1'000'000'000);                            // in order already
    if (shape == 2) key = own + (is_left ? 1'000'000'000 : 0);                            // the other way round
    if (shape == 3) key = mixed[i] % 3;                                                   // of few that differ
    if (shape == 4) key = static_cast<int>(1e9 * (is_left ? part * part * part : part));  // densely first
    if (shape == 5) key = static_cast<int>(1e9 * (is_left ? part : part * part * part));
    if (shape == 6) key = own / 5000 * 2 + (is_left ? 0 : 1);  // in long rows of each
    if (shape == 7) key = is_left ? (part < 0.5 ? own : 1'000'000'000 + own) : own % 7 == 0 ? own : 500'000'000 + own;
    (is_left ? made.left : made.right).push_back(key);
  }
  std::ranges::sort(made.left);
  std::ranges::sort(made.right);
  return made;
}

template <class V>
V in_order_of_runs(const runs& of) {
  using T = V::value_type;
  V v;
  for (const int key : of.left) v.push_back(T{key, static_cast<int>(v.size())});
  for (const int key : of.right) v.push_back(T{key, static_cast<int>(v.size())});
  return v;
}

/// What a stable merge gives: the places of the elements.
std::vector<int> places_when_merged(const runs& of) {
  const auto v = in_order_of_runs<std::vector<cheap>>(of);
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(of.left.size());
  std::vector<cheap> merged;
  std::merge(v.begin(), middle, middle, v.end(), std::back_inserter(merged), by_key);
  std::vector<int> places;
  for (const cheap& x : merged) places.push_back(x.place);
  return places;
}
template <class V>
std::vector<int> places_of(const V& v) {
  std::vector<int> places;
  for (const auto& x : v) places.push_back(x.place);
  return places;
}

/// Merges directly, also where nopal::inplace_merge would find the runs in place or comparisons slow: in waves, or all at once.
template <class V, class Less>
void merge_directly(V& v, std::size_t half, bool in_waves, const Less& less) {
  using T = V::value_type;
  const std::size_t n = v.size();
  const std::size_t capacity = in_waves ? std::max(std::min(half, n - half), n / 4) : n;
  const algorithms::raw_buffer<T> room{capacity};
  algorithms::merge_in_waves(algorithms::plain_iterator(v.begin()), half, n, room.data(), capacity, less);
}

/// Calls check(shape, half, n, in_waves) for runs of many lengths, on pools.
template <class Check>
void for_lengths(std::initializer_list<std::size_t> lengths, Check check) {
  for (const unsigned workers : test::pools) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    pool.run([&] {
      for (const std::size_t n : lengths) {
        if (n >= 30'000 && workers == 2) continue;  // three take the same ways
        for (const std::size_t half : {std::size_t{1}, n / 50, n / 7, n / 2, n / 2 + 1, n / 2 + n / 20, n - n / 7, n - n / 50, n - 1}) {
          const bool of_many = half == 1 || half == n / 7 || half == n - n / 50 || half == n - 1;
          if (half == 0 || half == n || (n >= 30'000 && of_many)) continue;
          for (int shape = 0; shape < shapes; ++shape) {
            for (const bool in_waves : {true, false}) check(shape, half, n, in_waves);
          }
        }
      }
    });
  }
}

template <class V>
void merges_as_std(std::initializer_list<std::size_t> lengths) {
  for_lengths(lengths, [](int shape, std::size_t half, std::size_t n, bool in_waves) {
    const runs of = keys(shape, half, n);
    auto v = in_order_of_runs<V>(of);
    merge_directly(v, half, in_waves, by_key);
    EXPECT_TRUE(places_of(v) == places_when_merged(of)) << "shape " << shape << ", " << half << " of " << n;
  });
}

constexpr std::size_t large = test::sanitized ? 50'000 : 140'000;

TEST(merge_waves, of_cheap_elements) { merges_as_std<std::vector<cheap>>({2, 3, 9, 100, 511, 512, 513, 5000, 33'000, 2 * large}); }
TEST(merge_waves, of_dear_elements) { merges_as_std<std::vector<dear>>({2, 9, 600, 33'000, large}); }
TEST(merge_waves, through_other_iterators) {
  merges_as_std<std::deque<cheap>>({2, 9, 600, large});
  merges_as_std<std::deque<dear>>({2, 9, 600, 33'000});
}

/// Requires that each element is in v once.
template <class V>
void expect_all(const V& v) {
  auto places = places_of(v);
  std::ranges::sort(places);
  std::vector<int> all(v.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  EXPECT_TRUE(places == all);
  if constexpr (std::is_same_v<typename V::value_type, dear>) {
    EXPECT_TRUE(std::ranges::all_of(v, [](const dear& x) { return x.text.starts_with("that an owner"); }));
  }
}

/// Lets call number `at` throw. Returns whether there was one.
template <class V>
bool keeps_all(const runs& of, std::size_t at, bool in_waves) {
  auto v = in_order_of_runs<V>(of);
  std::atomic<std::size_t> calls{0};
  bool threw = false;
  try {
    merge_directly(v, of.left.size(), in_waves, [&](const auto& a, const auto& b) {
      if (calls++ == at) throw test::thrown{at};
      return a.key < b.key;
    });
  } catch (const test::thrown& e) {
    EXPECT_EQ(e.where, at);
    threw = true;
  }
  expect_all(v);
  return threw;
}

TEST(merge_waves, keep_all_where_any_comparison_throws) {
  for_lengths({2, 9, 70, 600}, [](int shape, std::size_t half, std::size_t n, bool in_waves) {
    const runs of = keys(shape, half, n);
    std::size_t at = 0;
    while (keeps_all<std::vector<cheap>>(of, at, in_waves)) ++at;
    EXPECT_GE(at, 1U);
    at = 0;
    while (keeps_all<std::vector<dear>>(of, at, in_waves)) at += n < 100 ? 1 : 7;
    at = 0;
    while (keeps_all<std::deque<dear>>(of, at, in_waves)) at += n < 100 ? 1 : 19;
  });
}
TEST(merge_waves, keep_all_where_comparisons_of_parts_throw) {
  for_lengths({large}, [](int shape, std::size_t half, std::size_t n, bool in_waves) {
    const runs of = keys(shape, half, n);
    for (std::size_t at = 0; keeps_all<std::vector<cheap>>(of, at, in_waves); at = 8 * at + 5) {
    }
    keeps_all<std::vector<cheap>>(of, n / 2, in_waves);
    keeps_all<std::deque<cheap>>(of, n - 100, in_waves);
  });
  for_lengths({35'000}, [](int shape, std::size_t half, std::size_t n, bool in_waves) {
    const runs of = keys(shape, half, n);
    for (std::size_t at = 0; keeps_all<std::vector<dear>>(of, at, in_waves); at = 8 * at + 5) {
    }
  });
}
TEST(merge_waves, keep_all_where_many_parts_throw) {
  for_lengths({large}, [](int shape, std::size_t half, std::size_t n, bool in_waves) {
    if (shape != 0) return;
    auto v = in_order_of_runs<std::vector<cheap>>(keys(shape, half, n));
    const int above = 500'000;
    int caught = -1;
    try {
      merge_directly(v, half, in_waves, [&](const cheap& a, const cheap& b) {
        if (a.key > above && b.key > above) throw a.key;
        return a.key < b.key;
      });
    } catch (const int key) {
      caught = key;
    }
    expect_all(v);
    if (half > n / 10 && half < n - n / 10) {
      EXPECT_GT(caught, above);
    }
  });
}

// Comparators that contradict themselves, and runs that are not sorted.
TEST(merge_waves, lose_nothing_where_comparisons_make_no_sense) {
  for_lengths({9, 600, 5000, large}, [](int shape, std::size_t half, std::size_t n, bool in_waves) {
    runs of = keys(shape, half, n);
    std::ranges::reverse(of.left);
    auto v = in_order_of_runs<std::vector<cheap>>(of);
    merge_directly(v, half, in_waves, by_key);
    expect_all(v);
    merge_directly(v, half, in_waves, [](const cheap& a, const cheap& b) { return (a.key ^ b.place) % 3 != 0; });
    expect_all(v);
    merge_directly(v, half, in_waves, [](const cheap&, const cheap&) { return true; });
    expect_all(v);
  });
}

// The shorter run to the buffer, then all to where they belong. Where holes are short, others go to the buffer too.
TEST(merge_waves, move_elements_little_more_than_once) {
  for_lengths({600, 20'000, large}, [](int shape, std::size_t half, std::size_t n, bool in_waves) {
    auto v = in_order_of_runs<std::vector<dear>>(keys(shape, half, n));
    dear::moves = 0;
    merge_directly(v, half, in_waves, by_key);
    const std::size_t shorter = std::min(half, n - half);
    const bool is_short = in_waves && n < algorithms::parallel_merge;
    EXPECT_LE(dear::moves.load(), is_short ? n + shorter : 2 * n) << "shape " << shape << ", " << half << " of " << n;
    if (in_waves && shape == 0 && half == n / 2) {
      EXPECT_LE(dear::moves.load(), n * 31 / 20 + algorithms::parallel_merge);
    }
  });
}
TEST(merge_waves, of_very_many_elements_move_them_little_more_than_once) {
  struct counts {
    int key;
    std::size_t* moves;
    counts(int k, std::size_t* m) : key{k}, moves{m} {}
    counts(counts&& from) noexcept : key{from.key}, moves{from.moves} { ++*moves; }
    counts& operator=(counts&& from) noexcept {
      key = from.key;
      moves = from.moves;
      ++*moves;
      return *this;
    }
    ~counts() = default;
  };
  const std::size_t n = algorithms::least_waves<cheap> + 1000;  // more than least_waves<counts>
  std::size_t moves = 0;
  std::vector<counts> v;
  v.reserve(n);
  for (std::size_t i = 0; i < n; ++i) v.emplace_back(static_cast<int>(i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1), &moves);
  nopal::pool pool{{.workers = 1}};
  pool.run([&] { nopal::inplace_merge(v, v.begin() + static_cast<std::ptrdiff_t>(n / 2), by_key); });
  EXPECT_TRUE(std::ranges::is_sorted(v, by_key));
  EXPECT_LE(moves, n * 31 / 20);
}

TEST(merge_waves, need_memory_for_half_of_very_many_elements) {
  for (const std::size_t n : {std::size_t{2}, std::size_t{1000}, algorithms::parallel_merge - 1, algorithms::least_waves<cheap>,
                              5 * algorithms::least_waves<cheap>}) {
    EXPECT_EQ(algorithms::room_for_waves<cheap>(n / 2, n - n / 2), n / 2);
    EXPECT_LE(algorithms::room_for_waves<cheap>(1, n - 1), std::max<std::size_t>(1, n / 4));
    EXPECT_EQ(algorithms::room_for_waves<cheap>(n - 1, 1), algorithms::room_for_waves<cheap>(1, n - 1));
  }
}

}  // namespace

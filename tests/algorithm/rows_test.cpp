// Contiguous numbers and pointers, of which many are compared, counted or added at once: every place of a row, every width.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/copy.hpp"
#include "nopal/algorithm/equal.hpp"
#include "nopal/algorithm/fill.hpp"
#include "nopal/algorithm/find.hpp"
#include "nopal/algorithm/for_each.hpp"
#include "nopal/algorithm/partition.hpp"
#include "nopal/algorithm/reduce.hpp"
#include "nopal/algorithm/remove.hpp"
#include "nopal/algorithm/replace.hpp"
#include "nopal/algorithm/sort.hpp"
#include "nopal/algorithm/transform.hpp"

namespace {

constexpr std::size_t lengths[] = {0, 1, 2, 63, 64, 65, 129, test::sanitized ? 130 : 200};

template <class T>
class rows : public testing::Test {};
using widths = testing::Types<bool, signed char, std::uint16_t, int, std::int64_t, float, double, const int*>;
TYPED_TEST_SUITE(rows, widths);

const int places[2] = {};

template <class T>
T element(int k) {
  if constexpr (std::is_pointer_v<T>) {
    return &places[k];
  } else {
    return static_cast<T>(k);
  }
}
template <class T>
T common() {
  return element<T>(0);
}
template <class T>
T rare() {
  return element<T>(1);
}

template <class T>
void finds_in(std::span<const T> v) {
  const T one = rare<T>();
  const std::array<T, 2> both = {one, one};
  const std::array<T, 1> single = {one};
  EXPECT_EQ(nopal::find(v, one) - v.begin(), std::ranges::find(v, one) - v.begin());
  EXPECT_EQ(nopal::adjacent_find(v) - v.begin(), std::ranges::adjacent_find(v) - v.begin());
  EXPECT_EQ(nopal::find_first_of(v, both) - v.begin(), std::ranges::find_first_of(v, both) - v.begin());
  EXPECT_EQ(nopal::search(v, single).begin() - v.begin(), std::ranges::search(v, single).begin() - v.begin());
  EXPECT_EQ(nopal::search(v, both).begin() - v.begin(), std::ranges::search(v, both).begin() - v.begin());
  EXPECT_EQ(nopal::find_end(v, single).begin() - v.begin(), std::ranges::find_end(v, single).begin() - v.begin());
  EXPECT_EQ(nopal::is_sorted_until(v) - v.begin(), std::ranges::is_sorted_until(v) - v.begin());
  EXPECT_EQ(nopal::find(v.rbegin(), v.rend(), one) - v.rbegin(), std::ranges::find(v.rbegin(), v.rend(), one) - v.rbegin());
}

// One element equal to another, or two, at every place.
TYPED_TEST(rows, are_searched_to_every_place) {
  using T = TypeParam;
  test::everywhere([] {
    for (const std::size_t n : lengths) {
      std::unique_ptr<T[]> const memory{new T[n + 1]};
      const std::span<T> v{memory.get(), n};
      std::ranges::fill(v, common<T>());
      finds_in<T>(v);
      for (std::size_t i = 0; i < n; ++i) {
        v[i] = rare<T>();
        finds_in<T>(v);
        if (i > 0) v[i - 1] = common<T>();
      }
    }
  });
}

TYPED_TEST(rows, lose_what_is_taken_out) {
  using T = TypeParam;
  test::everywhere([] {
    for (const std::size_t n : lengths) {
      for (const std::size_t step : {1U, 2U, 3U, 10U, 63U, 64U, 65U, 150U}) {
        std::unique_ptr<T[]> const memory{new T[n + 1]};
        std::unique_ptr<T[]> const other{new T[n + 1]};
        const auto make = [&](std::span<T> v) {
          for (std::size_t i = 0; i < n; ++i) v[i] = i % step == step - 1 ? rare<T>() : common<T>();
        };
        const std::span<T> v{memory.get(), n};
        const std::span<T> w{other.get(), n};
        const auto is_rare = [](T x) { return x == rare<T>(); };
        const auto same = [&](auto rest, auto expected) {
          EXPECT_EQ(rest.begin() - v.begin(), expected.begin() - w.begin());
          EXPECT_TRUE(std::equal(v.begin(), rest.begin(), w.begin(), expected.begin()));
        };
        make(v), make(w);
        same(nopal::remove(v, rare<T>()), std::ranges::remove(w, rare<T>()));
        make(v), make(w);
        same(nopal::unique(v), std::ranges::unique(w));
        make(v), make(w);
        same(nopal::partition(v, is_rare), std::ranges::partition(w, is_rare));
        make(v);
        EXPECT_EQ(nopal::copy_if(v, w.begin(), is_rare).out - w.begin(), std::ranges::count_if(v, is_rare));
      }
    }
  });
}

// A partition uses one method if few elements are out of place, and another if many are.
TEST(partitions, of_many_behind_few_and_of_few_behind_many) {
  test::everywhere([] {
    for (const std::size_t n : {1000UL, 10'000UL, test::large / 4}) {
      for (const bool few_first : {true, false}) {
        auto v = test::numbers<int>(n);
        for (std::size_t i = 0; i < n; ++i) {
          if ((i < n / 2) == few_first && i % 70 != 0) v[i] = 2;
        }
        const auto is_odd = [](int x) { return x % 2 != 0; };
        const auto count = std::ranges::count_if(v, is_odd);
        auto sorted = v;
        std::ranges::sort(sorted);
        EXPECT_EQ(nopal::partition(v, is_odd).begin() - v.begin(), count);
        EXPECT_TRUE(std::all_of(v.begin(), v.begin() + count, is_odd));
        EXPECT_TRUE(std::none_of(v.begin() + count, v.end(), is_odd));
        std::ranges::sort(v);
        EXPECT_EQ(v, sorted);
      }
    }
  });
}

// A volatile element is read as often as required: never in rows.
static_assert(nopal::core::algorithms::reads_plainly<const int*> && nopal::core::algorithms::reads_plainly<std::reverse_iterator<int*>>);
static_assert(!nopal::core::algorithms::reads_plainly<volatile int*> &&
              !nopal::core::algorithms::reads_plainly<std::reverse_iterator<volatile int*>>);

// What the user writes compares enumerations, and what is made of numbers. Here both throw where they meet 99, which no serial search does.

enum class choosy : int {};
int number_of(choosy x) {
  const int number = static_cast<int>(x);
  if (number == 99) throw test::thrown{99};
  return number;
}
bool operator==(choosy a, choosy b) { return number_of(a) == number_of(b); }
bool operator<(choosy a, choosy b) { return number_of(a) < number_of(b); }
struct made_of_number {
  made_of_number(int v) : value{number_of(choosy{v})} {}  // NOLINT(google-explicit-constructor)
  int value;
  friend bool operator<(const made_of_number& a, const made_of_number& b) { return a.value < b.value; }
  friend bool operator>(const made_of_number& a, const made_of_number& b) { return b < a; }
};
enum class plain_one : int {};
template <class Pred, class T>
inline constexpr bool in_rows = nopal::core::algorithms::compares_in_rows<Pred, std::identity, std::identity, T*, const T*>;
static_assert(in_rows<std::ranges::equal_to, int> && in_rows<std::less<>, const char*> && in_rows<std::less<long>, int>);
static_assert(in_rows<std::ranges::equal_to, plain_one> && in_rows<std::ranges::less, plain_one>);
static_assert(!in_rows<std::ranges::equal_to, choosy> && !in_rows<std::ranges::less, choosy>);
static_assert(!in_rows<std::less<made_of_number>, int> && !in_rows<std::greater<made_of_number>, int>);

TEST(comparisons, by_what_the_user_writes_throw_only_before_the_place_that_is_found) {
  test::everywhere([] {
    for (const std::size_t n : {64U, 200U, 5000U}) {
      std::vector<choosy> v(n);
      for (std::size_t i = 0; i < n; ++i) v[i] = choosy{static_cast<int>(2 * i + 100)};
      v[4] = v[3] = choosy{7};  // what is found; it is less than the one before it
      v[6] = v[40] = v[n - 1] = choosy{99};
      const auto at = [&](std::ptrdiff_t place) { return v.begin() + place; };
      EXPECT_EQ(nopal::find(v, choosy{7}), at(3));
      EXPECT_EQ(nopal::adjacent_find(v), at(3));
      EXPECT_EQ(nopal::find_first_of(v, std::array{choosy{5}, choosy{7}}), at(3));
      EXPECT_EQ(nopal::search(v, std::array{choosy{7}, choosy{7}}).begin(), at(3));
      EXPECT_EQ(nopal::find_end(v.rbegin(), v.rend(), v.rend() - 5, v.rend() - 3).begin().base(), at(5));
      EXPECT_EQ(nopal::is_sorted_until(v), at(3));
      EXPECT_THROW(nopal::find(v, choosy{8}), test::thrown);
      EXPECT_THROW(nopal::find(v.begin(), v.end(), choosy{99}), test::thrown);
      std::vector<int> numbers(n);
      for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<int>(v[i]);
      EXPECT_EQ(nopal::is_sorted_until(numbers, std::less<made_of_number>{}) - numbers.begin(), 3);
      EXPECT_THROW(nopal::lexicographical_compare(numbers, numbers, std::less<made_of_number>{}), test::thrown);
      EXPECT_THROW(nopal::lexicographical_compare(numbers, numbers, std::greater<made_of_number>{}), test::thrown);
    }
  });
}

template <class T, class Op>
void sums_up(T init, Op op) {
  for (const std::size_t n : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 1023U, 1024U, 1025U, 5000U, 100'003U}) {
    const auto v = test::numbers<unsigned char>(n);
    const auto f = [](unsigned char x) { return static_cast<T>(x | 1); };
    EXPECT_EQ(nopal::transform_reduce(v, init, op, f), std::transform_reduce(v.begin(), v.end(), init, op, f)) << n;
  }
}
TEST(sums, of_whole_numbers_in_any_grouping) {
  test::everywhere([] {
    sums_up(7L, std::plus<>{});
    sums_up(std::uint64_t{7}, std::multiplies<>{});
    sums_up(~0U, std::bit_and<>{});
    sums_up(std::uint16_t{4}, std::bit_or<>{});
    sums_up(4, std::bit_xor<int>{});
    std::vector<int> many(3'000'000, 1);  // leaves of several thousand
    EXPECT_EQ(nopal::transform_reduce(many, 0L, std::plus<>{}, [](int x) { return long{x}; }), 3'000'000);
  });
}
// Such numbers are added one by one, as std::accumulate does: each sum is truncated.
TEST(sums, of_what_is_cut_to_a_result) {
  test::everywhere([] {
    for (const std::size_t n : {1U, 5U, 64U, 1000U}) {  // one leaf
      std::vector<double> halves(n);
      for (std::size_t i = 0; i < n; ++i) halves[i] = i % 3 == 0 ? -5.0 : 2.75;
      EXPECT_EQ(nopal::transform_reduce(halves, 0, std::plus<>{}, std::identity{}), std::accumulate(halves.begin(), halves.end(), 0)) << n;
      std::vector<int> bits(n, 2);
      bits[0] = 1;
      bool serial = true;
      for (std::size_t i = 1; i < n; ++i) serial = static_cast<bool>(serial ^ bits[i]);
      EXPECT_EQ(nopal::transform_reduce(bits, true, std::bit_xor<>{}, std::identity{}), serial != true) << n;
    }
  });
}
TEST(sums, throw_what_is_thrown_first) {
  test::everywhere([] {
    std::vector<int> v(5000);
    std::iota(v.begin(), v.end(), 0);
    for (const int first : {0, 1, 2, 3, 4, 1021, 1022, 1023, 1024, 4999}) {
      try {
        nopal::transform_reduce(v, 0L, std::plus<>{}, [&](int x) {
          if (x >= first) throw test::thrown{static_cast<std::size_t>(x)};
          return x;
        });
        ADD_FAILURE() << first;
      } catch (const test::thrown& t) {
        EXPECT_EQ(t.where, static_cast<std::size_t>(first));
      }
    }
  });
}

// Functions that a block may copy, and functions that it must not copy.
struct counts {
  int calls = 0;
  void operator()(int& x) { x += ++calls; }
};
TEST(functions, keep_what_they_change) {
  nopal::pool one{{.workers = 1}};
  one.run([] {
    std::vector<int> v(100);
    EXPECT_EQ(nopal::for_each(v, counts{}).fun.calls, 100);
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 5050);
    nopal::generate(v, [own = 0]() mutable { return ++own; });
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 5050);
  });
}
TEST(functions, have_their_values_in_every_stretch) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<int>(n, 1000);
      auto w = v;
      auto expected = v;
      int seven = 7;
      nopal::for_each(w, [seven](int& x) { x = x % 2 == 0 ? seven : x; });
      std::ranges::replace_if(expected, [](int x) { return x % 2 == 0; }, 7);
      EXPECT_EQ(w, expected);
      std::vector<int> copied(n);
      nopal::replace_copy_if(v, copied.begin(), [two = seven - 5](int x) { return x % two == 0; }, seven);
      EXPECT_EQ(copied, expected);
      nopal::replace(w, seven, 8);
      std::ranges::replace(expected, 7, 8);
      EXPECT_EQ(w, expected);
      nopal::adjacent_difference(w, w.begin());
      std::adjacent_difference(expected.begin(), expected.end(), expected.begin());
      EXPECT_EQ(w, expected);
      nopal::transform(w, w, w.begin(), [seven](int a, int b) { return a + b + seven; });
      std::ranges::transform(expected, expected.begin(), [](int a) { return 2 * a + 7; });
      EXPECT_EQ(w, expected);
    }
  });
}

}  // namespace

// Values that are hard to copy: made from anything, copied differently if not const, without an address of their own, with commas.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <functional>
#include <ranges>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/pool.hpp"

namespace hostile {

/// A constructor from anything is the better match for a non-const object. Small and trivial to copy: the library copies it rather than
/// moves it.
struct greedy {
  explicit greedy(int v, int) : value{v} {}
  template <class U>
  greedy(U&&) : value{-1} {}  // NOLINT
  int value;
};
/// A copy of a non-const object is different.
struct two_copies {
  explicit two_copies(int v, int) : value{v} {}
  two_copies(two_copies&) : value{-1} {}
  two_copies(const two_copies&) = default;
  two_copies& operator=(two_copies& other) {
    value = -other.value;
    return *this;
  }
  two_copies& operator=(const two_copies&) = default;
  int value;
};
/// The same, but too large to be copied rather than moved.
struct large_greedy : greedy {
  explicit large_greedy(int v, int) : greedy{v, 0} {}
  template <class U>
    requires(!std::is_base_of_v<large_greedy, std::remove_cvref_t<U>> || !std::is_const_v<std::remove_reference_t<U>>)
  large_greedy(U&&) : greedy{-1, 0} {}  // NOLINT
  large_greedy(const large_greedy&) = default;
  large_greedy(large_greedy&& other) noexcept : greedy{other.value, 0} {}
  large_greedy& operator=(const large_greedy&) = default;
  large_greedy& operator=(large_greedy&&) = default;
  char more[40] = {};
};
/// No address, no comma, no default.
struct secretive {
  explicit secretive(int v, int) : value{v} {}
  void operator&() const = delete;
  int value;
};
template <class A, class B>
void operator,(A&&, B&&) = delete;

template <class T>
concept one_of_us = std::is_base_of_v<greedy, T> || std::same_as<T, two_copies> || std::same_as<T, secretive>;
template <one_of_us T>
bool operator==(const T& a, const T& b) {
  return a.value == b.value;
}
template <one_of_us T>
auto operator<=>(const T& a, const T& b) {
  return a.value <=> b.value;
}

}  // namespace hostile

namespace {

template <class T>
std::vector<T> values(std::size_t n, int below) {
  std::vector<T> result;
  result.reserve(n);
  for (const int x : test::numbers<int>(n, static_cast<std::uint64_t>(below))) result.emplace_back(x, 0);
  return result;
}
template <class T>
std::vector<int> plain(const std::vector<T>& v) {
  std::vector<int> result;
  for (const T& x : v) result.push_back(x.value);
  return result;
}

constexpr std::size_t sizes[] = {2, 3, 4, 10, 32, 33, 200, 3000, 40'000};

constexpr auto less = [](const auto& a, const auto& b) { return a.value < b.value; };

/// A body of a loop that is small, and so is copied for each block.
struct greedy_body {
  explicit greedy_body(std::atomic<int>& to, int) : sum{&to} {}
  template <class U>
  greedy_body(U&&) : sum{nullptr} {}  // NOLINT
  void operator()(int i) const { sum->fetch_add(i); }
  void operator()(int row, int column) const { sum->fetch_add(row * column); }
  std::atomic<int>* sum;
};

TEST(hostile_bodies, are_copied_of_constants) {
  test::everywhere([] {
    std::atomic<int> sum{0};
    greedy_body body{sum, 0};
    nopal::parallel_for(0, 100, body);
    EXPECT_EQ(sum.exchange(0), 4950);
    nopal::parallel_for(0, 10, 0, 10, body);
    EXPECT_EQ(sum.exchange(0), 45 * 45);
  });
}

template <class T>
class hostile_values : public testing::Test {};
using types = testing::Types<hostile::greedy, hostile::two_copies, hostile::large_greedy, hostile::secretive>;
TYPED_TEST_SUITE(hostile_values, types);

TYPED_TEST(hostile_values, are_sorted) {
  test::everywhere([] {
    for (const std::size_t n : sizes) {
      auto expected = plain(values<TypeParam>(n, 1000));
      std::ranges::sort(expected);
      auto v = values<TypeParam>(n, 1000);
      nopal::sort(v, less);
      ASSERT_EQ(plain(v), expected) << n;
      v = values<TypeParam>(n, 1000);
      nopal::stable_sort(v, less);
      ASSERT_EQ(plain(v), expected) << n;
      v = values<TypeParam>(n, 1000);
      nopal::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(n / 2), less);
      ASSERT_EQ(v[n / 2].value, expected[n / 2]) << n;
      auto kept = plain(v);
      std::ranges::sort(kept);
      ASSERT_EQ(kept, expected) << n;
    }
  });
}

TYPED_TEST(hostile_values, are_rearranged) {
  test::everywhere([] {
    for (const std::size_t n : sizes) {
      auto v = values<TypeParam>(n, 10);
      const auto before = plain(v);
      const auto is_small = [](const auto& x) { return x.value < 5; };
      const auto others = nopal::partition(v, is_small);
      ASSERT_TRUE(std::ranges::is_partitioned(v, is_small));
      ASSERT_EQ(others.size(), static_cast<std::size_t>(std::ranges::count_if(before, [](int x) { return x >= 5; })));
      ASSERT_EQ(std::ranges::count(plain(v), -1), 0);
      v = values<TypeParam>(n, 10);
      v.erase(nopal::remove_if(v, is_small).begin(), v.end());
      ASSERT_EQ(v.size(), others.size());
      ASSERT_TRUE(nopal::none_of(v, is_small));
      v = values<TypeParam>(n, 2);
      auto expected = plain(v);
      expected.erase(std::ranges::unique(expected).begin(), expected.end());
      v.erase(nopal::unique(v, {}, &TypeParam::value).begin(), v.end());
      ASSERT_EQ(plain(v), expected);
      const auto sorted = [&] {
        auto result = values<TypeParam>(n, 1000);
        nopal::sort(result, less);
        return result;
      }();
      auto merged = values<TypeParam>(2 * n, 10);
      nopal::merge(sorted, sorted, merged.begin(), less);
      ASSERT_TRUE(std::ranges::is_sorted(plain(merged)));
      ASSERT_EQ(merged.front().value, sorted.front().value);
      nopal::copy_if(sorted, merged.begin(), [](const auto&) { return true; });
      ASSERT_EQ(merged[n - 1].value, sorted[n - 1].value);
    }
  });
}

TYPED_TEST(hostile_values, are_summed_up) {
  const auto add = [](const TypeParam& a, const TypeParam& b) { return TypeParam{a.value + b.value, 0}; };
  test::everywhere([&] {
    for (const std::size_t n : {std::size_t{1}, std::size_t{10}, std::size_t{3000}}) {
      auto v = values<TypeParam>(n, 10);
      const auto numbers = plain(v);
      EXPECT_EQ(nopal::reduce(v, TypeParam{0, 0}, add).value, nopal::reduce(numbers));
      EXPECT_EQ(nopal::reduce(v, TypeParam{0, 0}, add, [](TypeParam& x) -> TypeParam& { return x; }).value, nopal::reduce(numbers));
      std::vector<int> expected(n);
      auto out = values<TypeParam>(n, 1);
      nopal::inclusive_scan(v, out.begin(), add);
      nopal::inclusive_scan(numbers, expected.begin());
      EXPECT_EQ(plain(out), expected);
      nopal::exclusive_scan(v, out.begin(), TypeParam{7, 0}, add);
      nopal::exclusive_scan(numbers, expected.begin(), 7);
      EXPECT_EQ(plain(out), expected);
      nopal::fill(out, TypeParam{3, 0});
      EXPECT_EQ(plain(out), std::vector<int>(n, 3));
      nopal::transform(v, out.begin(), [](const TypeParam& x) -> const TypeParam& { return x; });
      EXPECT_EQ(plain(out), numbers);
      nopal::transform(v, v, out.begin(), add);
      EXPECT_EQ(out.front().value, 2 * numbers.front());
      nopal::generate(out, [] { return TypeParam{4, 0}; });
      EXPECT_EQ(nopal::count_if(out, [](const auto& x) { return x.value == 4; }), static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(nopal::min_element(v, less) - v.begin(), std::ranges::min_element(numbers) - numbers.begin());
      EXPECT_EQ(nopal::minmax_element(v, less).max->value, std::ranges::max(numbers));
      EXPECT_EQ(nopal::find_if(v, [&](const auto& x) { return x.value == numbers.back(); }) - v.begin(),
                std::ranges::find(numbers, numbers.back()) - numbers.begin());
      nopal::for_each(v, [](TypeParam& x) { x.value += 1; });
      EXPECT_EQ(v.front().value, numbers.front() + 1);
    }
  });
}

}  // namespace

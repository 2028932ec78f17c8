// Algorithms that rearrange, copy and make values which are copied and moved in hostile ways: as std::ranges treats them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "hostile_values.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/pool.hpp"

namespace {

using namespace test::hostile;

constexpr std::size_t sizes[] = {2, 10, 33, 500, 9000};
long number(std::size_t i) { return static_cast<long>(i * 7919 % 1009); }

template <class T>
class hostile_rearranging : public testing::Test {
 protected:
  static std::vector<T> values(std::vector<long> const& numbers) {
    std::vector<T> v;
    for (long const n : numbers) v.push_back(T::make(n));
    return v;
  }
  template <class R>
  static std::vector<long> numbers_of(R const& r) {
    std::vector<long> v;
    for (auto const& x : r) v.push_back(x.get());
    return v;
  }
  /// Calls f(numbers) with each size, off a pool and on one.
  template <class F>
  static void each(F f) {
    nopal::pool pool{{.workers = 3}};
    for (std::size_t const n : sizes) {
      SCOPED_TRACE(n);
      std::vector<long> numbers;
      for (std::size_t i = 0; i < n; ++i) numbers.push_back(number(i));
      f(numbers);
      pool.run([&] { f(numbers); });
    }
  }
};
using kinds = testing::Types<greedy, two_copies, without_operators, with_other_operators, only_moves, wide>;
TYPED_TEST_SUITE(hostile_rearranging, kinds);

auto const less = [](auto const& a, auto const& b) { return a.get() < b.get(); };
auto const odd = [](auto const& x) { return x.get() % 2 != 0; };
auto const odd_number = [](long n) { return n % 2 != 0; };

TYPED_TEST(hostile_rearranging, in_place) {
  this->each([](std::vector<long> l) {
    auto v = TestFixture::values(l);
    auto const third = static_cast<std::ptrdiff_t>(l.size() / 3);
    nopal::reverse(v);
    std::ranges::reverse(l);
    EXPECT_EQ(TestFixture::numbers_of(v), l);
    nopal::rotate(v, v.begin() + third);
    std::ranges::rotate(l, l.begin() + third);
    EXPECT_EQ(TestFixture::numbers_of(v), l);
    nopal::swap_ranges(v.begin(), v.begin() + third, v.begin() + third, v.end());
    std::ranges::swap_ranges(l.begin(), l.begin() + third, l.begin() + third, l.end());
    EXPECT_EQ(TestFixture::numbers_of(v), l);
    EXPECT_EQ(nopal::stable_partition(v, odd).begin() - v.begin(), std::ranges::count_if(l, odd_number));
    std::vector<long> rest;
    std::ranges::remove_copy_if(l, std::back_inserter(rest), odd_number);
    std::erase_if(l, [](long n) { return !odd_number(n); });
    l.insert(l.end(), rest.begin(), rest.end());
    EXPECT_EQ(TestFixture::numbers_of(v), l);
    auto all = l;
    std::ranges::sort(all);
    nopal::partial_sort(v, v.begin() + third, less);
    EXPECT_TRUE(std::equal(v.begin(), v.begin() + third, all.begin(), [](auto const& x, long n) { return x.get() == n; }));
    nopal::partial_sort(v.begin() + third, v.end(), v.end(), less);
    std::ranges::rotate(v, v.begin() + third);
    nopal::inplace_merge(v, v.end() - third, less);
    EXPECT_EQ(TestFixture::numbers_of(v), all);
    auto const value = TypeParam::make(all[0]);
    auto const others = nopal::remove(v, value).begin();
    EXPECT_EQ(v.end() - others, std::ranges::count(all, all[0]));
    v.erase(others, v.end());
    std::erase(all, value.get());
    EXPECT_EQ(TestFixture::numbers_of(v), all);
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
      nopal::replace_if(v, odd, value);
      std::ranges::replace_if(all, odd_number, value.get());
      nopal::replace(v, TypeParam::make(4), value);
      std::ranges::replace(all, 4, value.get());
      EXPECT_EQ(TestFixture::numbers_of(v), all);
    }
  });
}

TYPED_TEST(hostile_rearranging, to_another_place) {
  this->each([](std::vector<long> l) {
    auto v = TestFixture::values(l);
    auto out = TestFixture::values(l);
    nopal::fill_n(l.begin(), 1, 7);
    v[0] = TypeParam::make(7);
    nopal::move(v, out.begin());
    EXPECT_EQ(TestFixture::numbers_of(out), l);
    std::allocator<TypeParam> memory;
    TypeParam* const made = memory.allocate(l.size());
    std::ranges::subrange const place{made, made + l.size()};
    nopal::uninitialized_move(out, place);
    EXPECT_EQ(TestFixture::numbers_of(place), l);
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
      auto const of_l = TestFixture::values(l);
      nopal::destroy(place);
      nopal::uninitialized_copy(of_l, place);
      EXPECT_EQ(TestFixture::numbers_of(place), l);
      nopal::destroy(place);
      nopal::uninitialized_fill(place, of_l[0]);
      EXPECT_EQ(TestFixture::numbers_of(place), std::vector<long>(l.size(), l[0]));
      out = TestFixture::values(std::vector<long>(l.size(), 3));
      nopal::copy(of_l, out.begin());
      EXPECT_EQ(TestFixture::numbers_of(out), l);
      nopal::rotate_copy(of_l, of_l.begin() + 1, out.begin());
      std::vector<long> expected(l.size());
      std::ranges::rotate_copy(l, l.begin() + 1, expected.begin());
      EXPECT_EQ(TestFixture::numbers_of(out), expected);
      nopal::replace_copy_if(of_l, out.begin(), odd, of_l[0]);
      std::ranges::replace_copy_if(l, expected.begin(), odd_number, l[0]);
      EXPECT_EQ(TestFixture::numbers_of(out), expected);
      nopal::partition_copy(of_l, out.begin(), out.begin() + std::ranges::count_if(l, odd_number), odd);
      std::ranges::partition_copy(l, expected.begin(), expected.begin() + std::ranges::count_if(l, odd_number), odd_number);
      EXPECT_EQ(TestFixture::numbers_of(out), expected);
      nopal::partial_sort_copy(of_l, std::ranges::subrange(out.begin(), out.begin() + 2), less);
      std::ranges::partial_sort_copy(l, std::ranges::subrange(expected.begin(), expected.begin() + 2));
      EXPECT_EQ(TestFixture::numbers_of(out), expected);
    }
    nopal::destroy(place);
    memory.deallocate(made, l.size());
  });
}

TYPED_TEST(hostile_rearranging, sets) {
  if constexpr (std::is_copy_constructible_v<TypeParam>) {
    this->each([](std::vector<long> l) {
      std::ranges::sort(l);
      std::vector<long> m;
      for (long const n : l) m.push_back(n / 2 * 2);
      auto const a = TestFixture::values(l);
      auto const b = TestFixture::values(m);
      auto const check = [&](auto theirs, auto ours) {
        std::vector<long> expected(2 * l.size());
        auto out = TestFixture::values(expected);
        ours(a, b, out.begin(), less);
        theirs(l, m, expected.begin());
        EXPECT_EQ(TestFixture::numbers_of(out), expected);
      };
      check(std::ranges::set_union, nopal::set_union);
      check(std::ranges::set_intersection, nopal::set_intersection);
      check(std::ranges::set_difference, nopal::set_difference);
      check(std::ranges::set_symmetric_difference, nopal::set_symmetric_difference);
    });
  }
}

}  // namespace

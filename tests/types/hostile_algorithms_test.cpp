// Algorithms with values that are copied and moved in hostile ways: as std::ranges treats them.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "hostile_values.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/pool.hpp"

namespace {

using namespace test::hostile;

constexpr std::size_t sizes[] = {2, 10, 33, 500, 5000};
long number(std::size_t i) { return static_cast<long>(i * 7919 % 1009); }

template <class T>
class hostile_algorithms : public testing::Test {
 protected:
  static std::vector<T> values(std::size_t n) {
    std::vector<T> v;
    for (std::size_t i = 0; i < n; ++i) v.push_back(T::make(number(i)));
    return v;
  }
  static std::vector<long> numbers(std::size_t n) {
    std::vector<long> v;
    for (std::size_t i = 0; i < n; ++i) v.push_back(number(i));
    return v;
  }
  template <class R>
  static std::vector<long> numbers_of(R const& r) {
    std::vector<long> v;
    for (auto const& x : r) v.push_back(x.get());
    return v;
  }
  /// Calls f(values, the same as numbers, n) with each size, off a pool and on one.
  template <class F>
  static void each(F f) {
    nopal::pool pool{{.workers = 3}};
    for (std::size_t const n : sizes) {
      SCOPED_TRACE(n);
      auto v = values(n);
      auto l = numbers(n);
      f(v, l);
      auto w = values(n);
      auto m = numbers(n);
      pool.run([&] { f(w, m); });
    }
  }
};
using kinds = testing::Types<greedy, two_copies, without_operators, with_other_operators, only_moves, wide>;
TYPED_TEST_SUITE(hostile_algorithms, kinds);

auto const less = [](auto const& a, auto const& b) { return a.get() < b.get(); };
auto const alike = [](auto const& a, auto const& b) { return a.get() % 2 == b.get() % 2; };
auto const odd = [](auto const& x) { return x.get() % 2 != 0; };
auto const odd_number = [](long n) { return n % 2 != 0; };

TYPED_TEST(hostile_algorithms, sort) {
  this->each([](auto& v, auto& l) {
    nopal::sort(v, less);
    std::ranges::sort(l);
    EXPECT_EQ(TestFixture::numbers_of(v), l);
    nopal::sort(v, std::ranges::greater{}, &TypeParam::get);
    std::ranges::reverse(l);
    EXPECT_EQ(TestFixture::numbers_of(v), l);
  });
}
TYPED_TEST(hostile_algorithms, stable_sort) {
  this->each([](auto& v, auto& l) {
    nopal::stable_sort(v, less);
    std::ranges::sort(l);
    EXPECT_EQ(TestFixture::numbers_of(v), l);
  });
}
TYPED_TEST(hostile_algorithms, sort_of_a_deque) {
  this->each([](auto& v, auto& l) {
    std::deque<TypeParam> d;
    for (auto& x : v) d.push_back(std::move(x));
    nopal::sort(d, less);
    std::ranges::sort(l);
    EXPECT_EQ(TestFixture::numbers_of(d), l);
  });
}
TYPED_TEST(hostile_algorithms, nth_element) {
  this->each([](auto& v, auto& l) {
    auto const nth = static_cast<std::ptrdiff_t>(l.size() / 3);
    nopal::nth_element(v, v.begin() + nth, less);
    std::ranges::sort(l);
    EXPECT_EQ(v[static_cast<std::size_t>(nth)].get(), l[static_cast<std::size_t>(nth)]);
    auto all = TestFixture::numbers_of(v);
    std::ranges::sort(all);
    EXPECT_EQ(all, l);
  });
}
TYPED_TEST(hostile_algorithms, partition) {
  this->each([](auto& v, auto& l) {
    auto const rest = nopal::partition(v, odd);
    EXPECT_EQ(rest.begin() - v.begin(), std::ranges::count_if(l, odd_number));
    EXPECT_TRUE(std::all_of(v.begin(), rest.begin(), odd));
    auto all = TestFixture::numbers_of(v);
    std::ranges::sort(all);
    std::ranges::sort(l);
    EXPECT_EQ(all, l);
  });
}
TYPED_TEST(hostile_algorithms, remove_if_and_unique) {
  this->each([](auto& v, auto& l) {
    auto const rest = nopal::unique(v, alike);
    auto const end = std::ranges::unique(l, [](long a, long b) { return a % 2 == b % 2; });
    l.erase(end.begin(), l.end());
    EXPECT_EQ(TestFixture::numbers_of(std::ranges::subrange{v.begin(), rest.begin()}), l);
    auto const more = nopal::remove_if(v.begin(), rest.begin(), odd);
    std::erase_if(l, odd_number);
    EXPECT_EQ(TestFixture::numbers_of(std::ranges::subrange{v.begin(), more.begin()}), l);
  });
}
TYPED_TEST(hostile_algorithms, searches) {
  this->each([](auto& v, auto& l) {
    EXPECT_EQ(nopal::find(v, l[l.size() / 2], &TypeParam::get) - v.begin(), std::ranges::find(l, l[l.size() / 2]) - l.begin());
    EXPECT_EQ(nopal::find(v, TypeParam::make(l[l.size() / 2])) - v.begin(), std::ranges::find(l, l[l.size() / 2]) - l.begin());
    EXPECT_EQ(nopal::find_if(v, odd) - v.begin(), std::ranges::find_if(l, odd_number) - l.begin());
    EXPECT_EQ(nopal::count(v, TypeParam::make(l[0])), std::ranges::count(l, l[0]));
    EXPECT_EQ(nopal::count_if(v, odd), std::ranges::count_if(l, odd_number));
    EXPECT_EQ(nopal::any_of(v, odd), std::ranges::any_of(l, odd_number));
    EXPECT_EQ(nopal::min_element(v, less) - v.begin(), std::ranges::min_element(l) - l.begin());
    EXPECT_EQ(nopal::max_element(v, less) - v.begin(), std::ranges::max_element(l) - l.begin());
    EXPECT_EQ(nopal::minmax_element(v, less).max - v.begin(), std::ranges::minmax_element(l).max - l.begin());
    EXPECT_EQ(nopal::histogram(v, 1009, &TypeParam::get)[static_cast<std::size_t>(l[1])],
              static_cast<std::size_t>(std::ranges::count(l, l[1])));
  });
}
TYPED_TEST(hostile_algorithms, merge_of_what_is_moved_or_copied) {
  if constexpr (std::is_copy_constructible_v<TypeParam>) {
    this->each([](auto& v, auto& l) {
      nopal::sort(v, less);
      std::ranges::sort(l);
      auto const& constant = v;
      auto out = TestFixture::values(2 * v.size());
      std::vector<long> expected(2 * l.size());
      std::ranges::merge(l, l, expected.begin());
      nopal::merge(constant, constant, out.begin(), less);
      EXPECT_EQ(TestFixture::numbers_of(out), expected);
    });
  }
}
TYPED_TEST(hostile_algorithms, copies_and_transforms) {
  this->each([](auto& v, auto& l) {
    auto out = TestFixture::values(v.size());
    nopal::transform(v, out.begin(), [](TypeParam const& x) { return TypeParam::make(x.get() + 1); });
    std::vector<long> more(l.size());
    std::ranges::transform(l, more.begin(), [](long n) { return n + 1; });
    EXPECT_EQ(TestFixture::numbers_of(out), more);
    nopal::generate(out, [] { return TypeParam::make(3); });
    EXPECT_EQ(TestFixture::numbers_of(out), std::vector<long>(l.size(), 3));
    std::atomic<long> sum{0};
    nopal::for_each(v, [&](TypeParam& x) { sum += x.get(); });
    EXPECT_EQ(sum, std::accumulate(l.begin(), l.end(), 0L));
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
      auto const& constant = v;
      auto const end = nopal::copy_if(constant, out.begin(), odd).out;
      std::erase_if(l, std::not_fn(odd_number));
      EXPECT_EQ(TestFixture::numbers_of(std::ranges::subrange{out.begin(), end}), l);
      TypeParam const two = TypeParam::make(2);
      nopal::fill(out, two);
      EXPECT_EQ(TestFixture::numbers_of(out), std::vector<long>(out.size(), 2));
    }
  });
}
TYPED_TEST(hostile_algorithms, reductions) {
  this->each([](auto& v, auto& l) {
    auto const add = [](TypeParam const& a, TypeParam const& b) { return TypeParam::make(a.get() + b.get()); };
    long const sum = std::accumulate(l.begin(), l.end(), 0L);
    EXPECT_EQ(nopal::reduce(v, 0L, std::plus<>{}, &TypeParam::get), sum);
    EXPECT_EQ(nopal::transform_reduce(v, TypeParam::make(0), add, [](TypeParam const& x) { return TypeParam::make(x.get()); }).get(), sum);
    EXPECT_EQ(
        nopal::transform_reduce(v, v, 0L, std::plus<>{}, [](TypeParam const& a, TypeParam const& b) { return a.get() - b.get() + 1; }),
        static_cast<long>(l.size()));
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
      auto const& constant = v;
      EXPECT_EQ(nopal::reduce(constant, TypeParam::make(0), add).get(), sum);
      EXPECT_EQ(nopal::reduce(v, TypeParam::make(0), add).get(), sum);
    }
  });
}
TYPED_TEST(hostile_algorithms, scans) {
  if constexpr (std::is_copy_constructible_v<TypeParam>) {
    this->each([](auto& v, auto& l) {
      auto const add = [](TypeParam const& a, TypeParam const& b) { return TypeParam::make(a.get() + b.get()); };
      auto out = TestFixture::values(v.size());
      std::vector<long> sums(l.size());
      std::inclusive_scan(l.begin(), l.end(), sums.begin());
      nopal::inclusive_scan(v, out.begin(), add);
      EXPECT_EQ(TestFixture::numbers_of(out), sums);
      nopal::inclusive_scan(v, out.begin(), add, TypeParam::make(0));
      EXPECT_EQ(TestFixture::numbers_of(out), sums);
      std::exclusive_scan(l.begin(), l.end(), sums.begin(), 4L);
      nopal::exclusive_scan(v, out.begin(), TypeParam::make(4), add);
      EXPECT_EQ(TestFixture::numbers_of(out), sums);
    });
  }
}
TYPED_TEST(hostile_algorithms, constants_that_functions_return) {
  if constexpr (std::is_copy_constructible_v<TypeParam>) {
    this->each([](auto& v, auto& l) {
      using constant = TypeParam const;
      auto const add = [](constant& a, constant& b) -> constant { return TypeParam::make(a.get() + b.get()); };
      auto const made = [](constant& x) -> constant { return TypeParam::make(x.get()); };
      auto const slowly_made = [](constant& x) -> constant {
        for (int k = 0; k < 1000; ++k) std::atomic_signal_fence(std::memory_order::seq_cst);
        return TypeParam::make(x.get());
      };
      long const sum = std::accumulate(l.begin(), l.end(), 0L);
      auto const all = v | std::views::transform(made);
      EXPECT_EQ(nopal::transform_reduce(v, TypeParam::make(0), add, made).get(), sum);
      EXPECT_EQ(nopal::transform_reduce(v, TypeParam::make(0), add, slowly_made).get(), sum);
      EXPECT_EQ(nopal::reduce(all, TypeParam::make(0), add).get(), sum);
      auto const one_block = [](auto from, auto to, TypeParam so_far) -> constant {
        for (; from != to; ++from) so_far = TypeParam::make(so_far.get() + from->get());
        return so_far;
      };
      EXPECT_EQ(nopal::reduce_blocks(v, TypeParam::make(0), one_block, add).get(), sum);
      EXPECT_EQ(nopal::max(all, less).get(), *std::ranges::max_element(l));
      EXPECT_EQ(nopal::minmax(all, less).min.get(), *std::ranges::min_element(l));
      auto out = TestFixture::values(v.size());
      std::vector<long> sums(l.size());
      std::inclusive_scan(l.begin(), l.end(), sums.begin());
      nopal::inclusive_scan(all, out.begin(), add);
      EXPECT_EQ(TestFixture::numbers_of(out), sums);
      nopal::transform_inclusive_scan(v, out.begin(), add, made);
      EXPECT_EQ(TestFixture::numbers_of(out), sums);
      nopal::transform_inclusive_scan(v, out.begin(), add, slowly_made);
      EXPECT_EQ(TestFixture::numbers_of(out), sums);
    });
  }
}
TYPED_TEST(hostile_algorithms, combinable) {
  auto const add = [](TypeParam const& a, TypeParam const& b) { return TypeParam::make(a.get() + b.get()); };
  auto const sums = [&](auto& local) {
    nopal::parallel_for(0, 1000, [&](int i) { local.local() = TypeParam::make(local.local().get() + i); });
    return local.combine(add).get();
  };
  if constexpr (std::is_copy_constructible_v<TypeParam>) {
    nopal::combinable<TypeParam> local{TypeParam::make(0)};
    EXPECT_EQ(std::as_const(local).combine(add).get(), 0);
    EXPECT_EQ(sums(local), 499'500);
  }
  nopal::combinable<TypeParam> made{[] { return TypeParam::make(0); }};
  EXPECT_EQ(sums(made), 499'500);
}

/// Calls f() with each number of copies before one throws, until none does: then the elements of `kept` are unchanged.
template <class F>
void while_copies_throw(std::vector<throwing> const& kept, F f) {
  auto const sum = [&] { return std::accumulate(kept.begin(), kept.end(), 0L, [](long n, throwing const& x) { return n + x.get(); }); };
  long const before = sum();
  bool threw = true;
  int failures = 0;
  for (long at = 1; threw; at = at * 3 + 1) {
    throwing::left = at;
    threw = false;
    try {
      f();
    } catch (throwing::failure const&) {
      threw = true;
      ++failures;
    }
    throwing::left = 0;
    EXPECT_EQ(sum(), before);
  }
  EXPECT_GT(failures, 2);
}

TEST(hostile_algorithms_that_throw, copies_reach_the_caller) {
  std::vector<throwing> v;
  for (std::size_t i = 0; i < 600; ++i) v.emplace_back(number(i));
  std::vector<throwing> out(1200, throwing{0});
  auto const& constant = v;
  auto const add = [](throwing const& a, throwing const& b) { return throwing{a.get() + b.get()}; };
  while_copies_throw(v, [&] { nopal::copy_if(constant, out.begin(), odd); });
  while_copies_throw(v, [&] { nopal::merge(constant, constant, out.begin(), [](auto const&, auto const&) { return false; }); });
  while_copies_throw(v, [&] { nopal::inclusive_scan(constant, out.begin(), add); });
  while_copies_throw(v, [&] { nopal::transform(constant, out.begin(), [](throwing const& x) { return throwing{x.get()}; }); });
  while_copies_throw(v, [&] { nopal::fill(out, v[3]); });
  while_copies_throw(v, [&] { static_cast<void>(nopal::reduce(constant, throwing{0}, add)); });
}

}  // namespace

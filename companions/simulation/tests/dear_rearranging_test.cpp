// Few elements that take a millisecond each, in algorithms that change, copy, choose or make them, on a simulated machine of 16 cores.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <ranges>
#include <utility>
#include <vector>

#include "dear_elements.hpp"

namespace {

using namespace std::chrono_literals;

/// An element that is copied, moved, swapped or made slowly. Its moves are not noexcept.
struct slow {
  int value = 0;
  slow() { work(); }
  explicit slow(int v) : value{v} {}
  slow(slow const& o) : value{o.value} { work(); }
  slow& operator=(slow const& o) {
    work();
    value = o.value;
    return *this;
  }
  friend void swap(slow& a, slow& b) {
    work();
    std::swap(a.value, b.value);
  }
  friend bool operator==(slow const&, slow const&) = default;
};

std::vector<slow> slow_numbers(std::size_t n) {
  std::vector<slow> v;
  v.reserve(n);
  for (int const x : numbers(n)) v.emplace_back(x);
  return v;
}
std::vector<int> sorted_numbers(std::size_t n, unsigned seed) {
  auto v = numbers(n, seed);
  std::ranges::sort(v);
  return v;
}

TEST(dear_rearranging, replaces_and_chooses_in_parallel) {
  for_both(10, 15, [](std::size_t n, double goal) {
    auto const v = numbers(n);
    std::vector<int> one = v, other = v;
    EXPECT_GE(speed_up([&] { std::ranges::replace_if(one, is_odd, 4); }, [&] { nopal::replace_if(other, is_odd, 4); }), goal);
    EXPECT_EQ(one, other);
    auto const odd = [](int x) { return is_odd(x) ? 1 : 0; };
    EXPECT_GE(
        speed_up([&] { std::ranges::replace_copy(v, one.begin(), 1, 4, odd); }, [&] { nopal::replace_copy(v, other.begin(), 1, 4, odd); }),
        goal);
    EXPECT_EQ(one, other);
    one = other = v;
    EXPECT_GE(speed_up([&] { one.erase(std::ranges::remove(one, 1, odd).begin(), one.end()); },
                       [&] { other.erase(nopal::remove(other, 1, odd).begin(), other.end()); }),
              goal);
    EXPECT_EQ(one, other);
    std::vector<int> one_rest(n), other_rest(n);
    one = other = v;
    EXPECT_GE(speed_up([&] { std::ranges::partition_copy(v, one.begin(), one_rest.begin(), is_odd); },
                       [&] { nopal::partition_copy(v, other.begin(), other_rest.begin(), is_odd); }),
              goal);
    EXPECT_EQ(one, other);
    EXPECT_EQ(one_rest, other_rest);
    other = v;
    auto const counted = std::ranges::count_if(v, [](int x) { return x % 2 == 1; });
    EXPECT_GE(speed_up([&] { static_cast<void>(std::ranges::count_if(v, is_odd)); },
                       [&] { EXPECT_EQ(nopal::stable_partition(other, is_odd).begin() - other.begin(), counted); }),
              goal);
    EXPECT_TRUE(std::equal(one.begin(), one.begin() + counted, other.begin()));
    EXPECT_TRUE(std::equal(one_rest.begin(), one_rest.end() - counted, other.begin() + counted));
  });
}

TEST(dear_rearranging, copies_and_swaps_in_parallel) {
  for_both(10, 15, [](std::size_t n, double goal) {
    auto const v = slow_numbers(n);
    auto one = v, other = v;
    EXPECT_GE(speed_up([&] { std::ranges::copy(v, one.begin()); }, [&] { nopal::copy(v, other.begin()); }), goal);
    EXPECT_GE(speed_up([&] { std::ranges::reverse_copy(v, one.begin()); }, [&] { nopal::reverse_copy(v, other.begin()); }), goal);
    EXPECT_EQ(one, other);
    auto const third = static_cast<std::ptrdiff_t>(n / 3);
    EXPECT_GE(speed_up([&] { std::ranges::rotate_copy(v, v.begin() + third, one.begin()); },
                       [&] { nopal::rotate_copy(v, v.begin() + third, other.begin()); }),
              goal);
    EXPECT_EQ(one, other);
    slow const value{7};
    auto const count = static_cast<std::ptrdiff_t>(n);
    EXPECT_GE(speed_up([&] { std::ranges::fill_n(one.begin(), count, value); }, [&] { nopal::fill_n(other.begin(), count, value); }), goal);
    EXPECT_EQ(one, other);
    auto one_more = v, other_more = v;
    EXPECT_GE(speed_up([&] { std::ranges::swap_ranges(one, one_more); }, [&] { nopal::swap_ranges(other, other_more); }), goal);
    EXPECT_EQ(one, other);
  });
  for_both(8, 14, [](std::size_t n, double goal) {  // half as many swaps, one after another
    auto one = slow_numbers(n), other = one;
    EXPECT_GE(speed_up([&] { std::ranges::reverse(one); }, [&] { nopal::reverse(other); }), goal);
    EXPECT_EQ(one, other);
    auto const third = static_cast<std::ptrdiff_t>(n / 3);
    EXPECT_GE(speed_up([&] { std::ranges::rotate(one, one.begin() + third); }, [&] { nopal::rotate(other, other.begin() + third); }), goal);
    EXPECT_EQ(one, other);
  });
}

TEST(dear_rearranging, makes_objects_in_parallel) {
  for_both(10, 15, [](std::size_t n, double goal) {
    auto const v = slow_numbers(n);
    std::allocator<slow> memory;
    slow* const one = memory.allocate(n);
    slow* const other = memory.allocate(n);
    auto const count = static_cast<std::ptrdiff_t>(n);
    EXPECT_GE(speed_up([&] { std::ranges::uninitialized_copy(v.begin(), v.end(), one, one + n); },
                       [&] { nopal::uninitialized_copy(v.begin(), v.end(), other, other + n); }),
              goal);
    EXPECT_TRUE(std::equal(one, one + n, other));
    EXPECT_GE(
        speed_up([&] { std::ranges::uninitialized_fill_n(one, count, v[0]); }, [&] { nopal::uninitialized_fill_n(other, count, v[0]); }),
        goal);
    EXPECT_GE(speed_up([&] { std::ranges::uninitialized_default_construct_n(one, count); },
                       [&] { nopal::uninitialized_default_construct_n(other, count); }),
              goal);
    memory.deallocate(one, n);
    memory.deallocate(other, n);
  });
}

// 64 elements: a search for where each part begins takes as long as a part.
TEST(dear_rearranging, forms_sets_in_parallel) {
  for_both(4, 11, [](std::size_t n, double goal) {
    auto const a = sorted_numbers(n / 2, 1);
    auto b = sorted_numbers(n / 2, 2);
    for (std::size_t i = 0; i < b.size(); i += 3) b[i] = a[i];
    std::ranges::sort(b);
    std::vector<int> one(n), other(n);
    auto const check = [&](auto theirs, auto ours) {
      EXPECT_GE(speed_up([&] { theirs(a, b, one.begin(), slowly_less); }, [&] { ours(a, b, other.begin(), slowly_less); }), goal);
      EXPECT_EQ(one, other);
    };
    check(std::ranges::set_union, nopal::set_union);
    check(std::ranges::set_symmetric_difference, nopal::set_symmetric_difference);
    one = other = a;  // the few equal elements are written, the rest is not
    one.resize(n);
    other.resize(n);
    check(std::ranges::set_intersection, nopal::set_intersection);
    check(std::ranges::set_difference, nopal::set_difference);
  });
}

TEST(dear_rearranging, merges_in_place_in_parallel) {
  for_both(4, 10, [](std::size_t n, double goal) {
    auto v = sorted_numbers(n / 2, 1);
    auto const middle = static_cast<std::ptrdiff_t>(v.size());
    auto const b = sorted_numbers(n / 2, 2);
    v.insert(v.end(), b.begin(), b.end());
    std::vector<int> one(n), other = v;
    EXPECT_GE(speed_up([&] { std::merge(v.begin(), v.begin() + middle, v.begin() + middle, v.end(), one.begin(), slowly_less); },
                       [&] { nopal::inplace_merge(other, other.begin() + middle, slowly_less); }),
              goal);
    EXPECT_EQ(one, other);
  });
}

// By its own span: a selection, in which each round needs the result of the last, then a sort.
TEST(dear_rearranging, sorts_a_part_in_parallel_as_cheap_ones_are) {
  for_both(2, 5, [](std::size_t n, double goal) {
    auto const v = numbers(n);
    auto const k = static_cast<std::ptrdiff_t>(n / 4);
    std::vector<int> one = v, other = v, cheap = v;
    EXPECT_GE(speed_up([&] { std::ranges::partial_sort(one, one.begin() + k, slowly_less); },
                       [&] { nopal::partial_sort(other, other.begin() + k, slowly_less); }),
              goal);
    nopal::partial_sort(cheap, cheap.begin() + k, [](int a, int b) { return a < b; });
    EXPECT_EQ(other, cheap);
    std::vector<int> one_part(static_cast<std::size_t>(k)), other_part(static_cast<std::size_t>(k));
    EXPECT_GE(speed_up([&] { std::ranges::partial_sort_copy(v, one_part, slowly_less); },
                       [&] { nopal::partial_sort_copy(v, other_part, slowly_less); }),
              goal);
    EXPECT_EQ(one_part, other_part);
    EXPECT_TRUE(std::equal(one_part.begin(), one_part.end(), other.begin()));
  });
}

}  // namespace

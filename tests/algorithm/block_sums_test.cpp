// adjacent_difference, transform_inclusive_scan, transform_exclusive_scan and reduce_blocks.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../types/hostile_values.hpp"
#include "data.hpp"
#include "nopal/algorithm/reduce.hpp"
#include "nopal/algorithm/scan.hpp"
#include "nopal/algorithm/transform.hpp"

namespace {

/// Composing affine functions is associative and not commutative.
struct affine {
  std::uint32_t factor;
  std::uint32_t term;
  friend bool operator==(const affine&, const affine&) = default;
};
affine then(const affine& f, const affine& g) { return {f.factor * g.factor, f.term * g.factor + g.term}; }
affine made(std::uint32_t x) { return {x | 1, x >> 7}; }

// Takes a microsecond or so.
template <class F>
auto slow(F f) {
  return [f](auto&&... x) {
    for (int i = 0; i < 1000; ++i) std::atomic_signal_fence(std::memory_order::seq_cst);
    return f(static_cast<decltype(x)>(x)...);
  };
}

template <class Op>
void differs_as_std(const std::vector<std::uint32_t>& v, Op op) {
  std::vector<std::uint32_t> expected(v.size()), out(v.size());
  std::adjacent_difference(v.begin(), v.end(), expected.begin(), op);
  const auto ends = nopal::adjacent_difference(v, out.begin(), op);
  EXPECT_EQ(ends.in, v.end());
  EXPECT_EQ(ends.out, out.end());
  EXPECT_TRUE(out == expected);
  out = v;
  nopal::adjacent_difference(out.begin(), out.end(), out.begin(), op);
  EXPECT_TRUE(out == expected) << "where the elements come from";
  std::deque<std::uint32_t> other(v.size());
  nopal::adjacent_difference(v | std::views::transform([](std::uint32_t x) { return x; }), other.begin(), op);
  EXPECT_TRUE(std::ranges::equal(other, expected));
}

TEST(adjacent_difference, differs_as_std) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<std::uint32_t>(n);
      differs_as_std(v, std::minus<>{});
      differs_as_std(v, [](std::uint32_t a, std::uint32_t b) { return 3 * a + b; });
      if (n < 10'000) differs_as_std(v, slow([](std::uint32_t a, std::uint32_t b) { return 3 * a + b; }));
    }
    std::vector<std::string> texts(3000, "ab"), out(3000);
    nopal::adjacent_difference(texts, out.begin(), std::plus<>{});
    EXPECT_EQ(out[0], "ab");
    EXPECT_EQ(out[2999], "abab");
    std::vector<bool> bits(5000);
    bits[4000] = true;
    std::vector<int> changes(bits.size());
    nopal::adjacent_difference(bits, changes.begin(), [](bool a, bool b) { return a == b ? 0 : 1; });
    EXPECT_EQ(std::ranges::count(changes, 1), 2);
  });
}

TEST(adjacent_difference, throws_what_serial_execution_would_have_thrown_first) {
  test::everywhere([] {
    for (const std::size_t n : {2U, 7U, 64U, 3000U}) {
      std::vector<int> v(n), out(n);
      std::iota(v.begin(), v.end(), 0);
      for (std::size_t at = 1; at < n; at += n < 100 ? 1 : 271) {
        const auto throws = [&](int a, int b) {
          const auto i = static_cast<std::size_t>(a);
          if (i >= at && (i - at) % 20 == 0) throw test::thrown{i};
          return a - b;
        };
        for (int k = 0; k < 2; ++k) {
          try {
            if (k == 0) nopal::adjacent_difference(v, out.begin(), throws);
            if (k == 1) nopal::adjacent_difference(v, out.begin(), slow(throws));
            ADD_FAILURE();
          } catch (const test::thrown& e) {
            EXPECT_EQ(e.where, at);
          }
        }
      }
    }
  });
}

// If the function takes long, a second call of it would take as long as the scan.
TEST(transform_scan, calls_a_slow_function_once) {
  test::everywhere([] {
    std::vector<std::atomic<int>> calls(100);
    const auto slow = [&](std::size_t k) {
      ++calls[k];
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds{50};
      while (std::chrono::steady_clock::now() < end) {
      }
      return std::string(k % 3, static_cast<char>('a' + k % 26));
    };
    const auto all = std::views::iota(std::size_t{0}, calls.size());
    std::vector<std::string> out(calls.size());
    nopal::transform_inclusive_scan(all, out.begin(), std::plus<>{}, slow);
    std::string sum;
    for (const std::size_t k : all) {
      sum += std::string(k % 3, static_cast<char>('a' + k % 26));
      EXPECT_EQ(out[k], sum);
      EXPECT_EQ(calls[k], 1);
    }
    nopal::transform_exclusive_scan(all, out.begin(), std::string{"b"}, std::plus<>{}, slow);
    EXPECT_EQ(out[1], "b");
    EXPECT_EQ(out[2], "bb");
    for (const auto& n : calls) EXPECT_EQ(n, 2);
  });
}

// The function's time decides whether its results are kept; the last bits of the sums do not depend on that.
TEST(transform_scan, comes_to_the_same_bits_by_slow_and_by_fast_functions) {
  test::everywhere([] {
    for (const std::size_t n : {std::size_t{3}, std::size_t{100}, std::size_t{700}}) {
      const auto term = [](std::size_t k) { return 1.0 / static_cast<double>(k + 1); };
      const auto slow_term = [&](std::size_t k) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds{10};
        while (std::chrono::steady_clock::now() < end) {
        }
        return term(k);
      };
      const auto all = std::views::iota(std::size_t{0}, n);
      std::vector<double> fast(n), slow(n);
      nopal::transform_inclusive_scan(all, fast.begin(), std::plus<>{}, term);
      nopal::transform_inclusive_scan(all, slow.begin(), std::plus<>{}, slow_term);
      EXPECT_TRUE(fast == slow) << n;
      nopal::transform_exclusive_scan(all, fast.begin(), 0.1, std::plus<>{}, term);
      nopal::transform_exclusive_scan(all, slow.begin(), 0.1, std::plus<>{}, slow_term);
      EXPECT_TRUE(fast == slow) << n;
    }
  });
}

TEST(transform_scan, scans_as_std) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<std::uint32_t>(n);
      std::vector<affine> expected(n), out(n);
      std::transform_inclusive_scan(v.begin(), v.end(), expected.begin(), then, made);
      const auto ends = nopal::transform_inclusive_scan(v, out.begin(), then, made);
      EXPECT_EQ(ends.in, v.end());
      EXPECT_EQ(ends.out, out.end());
      EXPECT_TRUE(out == expected);
      std::transform_inclusive_scan(v.begin(), v.end(), expected.begin(), then, made, affine{3, 4});
      nopal::transform_inclusive_scan(v.begin(), v.end(), out.begin(), then, made, affine{3, 4});
      EXPECT_TRUE(out == expected);
      std::transform_exclusive_scan(v.begin(), v.end(), expected.begin(), affine{3, 4}, then, made);
      EXPECT_EQ(nopal::transform_exclusive_scan(v, out.begin(), affine{3, 4}, then, made).out, out.end());
      EXPECT_TRUE(out == expected);

      auto in_place = v;
      auto numbers = v;
      const auto doubled = [](std::uint32_t x) { return 2 * x; };
      std::transform_inclusive_scan(v.begin(), v.end(), numbers.begin(), std::plus<>{}, doubled);
      nopal::transform_inclusive_scan(in_place, in_place.begin(), std::plus<>{}, doubled);
      EXPECT_TRUE(in_place == numbers);
      in_place = v;
      std::transform_exclusive_scan(v.begin(), v.end(), numbers.begin(), 7U, std::plus<>{}, doubled);
      nopal::transform_exclusive_scan(in_place.begin(), in_place.end(), in_place.begin(), 7U, std::plus<>{}, doubled);
      EXPECT_TRUE(in_place == numbers);
    }
  });
}

// The result of the function refers to its argument, which is destroyed.
TEST(transform_scan, keeps_nothing_of_an_element_that_dies) {
  struct both {
    std::string text;
    int number;
    [[nodiscard]] const std::string& get() const { return text; }
  };
  test::everywhere([] {
    const auto pairs = std::views::iota(0, 600) |
                       std::views::transform([](int i) { return both{"a text that lies on the heap, number " + std::to_string(i), i}; });
    std::vector<std::string> texts(600);
    const auto longer = [](std::string a, const std::string& b) { return a.size() >= b.size() ? a : b; };
    nopal::transform_inclusive_scan(pairs, texts.begin(), longer, &both::text);
    EXPECT_EQ(texts[99], pairs[10].text);
    nopal::transform_exclusive_scan(pairs, texts.begin(), std::string{}, longer, &both::get);
    EXPECT_EQ(texts[599], pairs[100].text);
    std::vector<int> sums(600);
    nopal::transform_inclusive_scan(pairs, sums.begin(), std::plus<>{}, &both::number);
    EXPECT_EQ(sums[599], 600 * 599 / 2);
    std::vector<bool> bits(600, true);
    nopal::transform_inclusive_scan(bits, sums.begin(), std::plus<>{}, [](bool b) { return b ? 2 : 0; });
    EXPECT_EQ(sums[599], 1200);
    bits[0] = false;
    const auto before = bits;
    nopal::transform_inclusive_scan(bits, sums.begin(), std::logical_or<>{}, std::identity{});
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0), 599);
    EXPECT_EQ(bits, before) << "a sum is no element";
  });
}

TEST(transform_scan, throws_what_the_function_throws) {
  test::everywhere([] {
    std::vector<int> v(3000), out(3000);
    std::iota(v.begin(), v.end(), 0);
    for (const int at : {0, 1, 100, 2999}) {
      const auto throws = [at](int x) {
        if (x == at) throw test::thrown{};
        return x;
      };
      EXPECT_THROW(nopal::transform_inclusive_scan(v, out.begin(), std::plus<>{}, throws), test::thrown);
      if (at < 2999) {
        EXPECT_THROW(nopal::transform_exclusive_scan(v, out.begin(), 0, std::plus<>{}, throws), test::thrown);
      }
    }
  });
}

TEST(reduce_blocks, joins_blocks_in_their_order) {
  const auto text_of = [](auto from, auto to, std::string so_far) {
    for (; from != to; ++from) so_far += std::to_string(from) + ' ';
    return so_far;
  };
  test::everywhere([&] {
    for (const int n : {0, 1, 2, 3, 64, 1000, 20'000}) {
      const std::string expected = text_of(0, n, std::string{});
      EXPECT_EQ(nopal::reduce_blocks(0, n, std::string{}, text_of, std::plus<>{}), expected);
      EXPECT_EQ(nopal::reduce_blocks(0U, n, std::string{}, text_of, std::plus<>{}, nopal::grain{7}), expected);
    }
    EXPECT_EQ(nopal::reduce_blocks(3, -3, std::string{"nothing"}, text_of, std::plus<>{}), "nothing");
    EXPECT_EQ(nopal::reduce_blocks(std::int8_t{-128}, std::int8_t{127}, std::string{}, text_of, std::plus<>{}),
              text_of(-128, 127, std::string{}));

    const auto v = test::numbers<std::uint32_t>(5000);
    const auto compose = [](auto from, auto to, affine so_far) {
      for (; from != to; ++from) so_far = then(so_far, made(*from));
      return so_far;
    };
    const affine all = compose(v.begin(), v.end(), affine{1, 0});
    EXPECT_EQ(nopal::reduce_blocks(v, affine{1, 0}, compose, then), all);
    EXPECT_EQ(nopal::reduce_blocks(v.begin(), v.end(), affine{1, 0}, compose, then), all);
    EXPECT_EQ(nopal::reduce_blocks(v | std::views::transform(std::identity{}), affine{1, 0}, compose, then, nopal::grain{100}), all);
    const std::array<int, 3> three = {1, 2, 3};
    EXPECT_EQ(nopal::reduce_blocks(three, 0, [](auto from, auto to, int x) { return std::accumulate(from, to, x); }, std::plus<>{}), 6);
    const int array[] = {1, 2, 3, 4};
    EXPECT_EQ(nopal::reduce_blocks(
                  array, array + 3, 0, [](auto from, auto to, int x) { return std::accumulate(from, to, x); }, std::plus<>{}),
              6);
    EXPECT_EQ(nopal::reduce_blocks(array, 0, [](auto from, auto to, int x) { return std::accumulate(from, to, x); }, std::plus<>{}), 10);
  });
}

TEST(reduce_blocks, has_the_same_bits_and_blocks_everywhere) {
  std::vector<double> v;
  for (const auto x : test::numbers<std::int64_t>(test::large)) v.push_back(static_cast<double>(x) * 1e-7);
  for (const std::size_t n : {std::size_t{200}, std::size_t{5000}, v.size()}) {
    std::vector<std::uint64_t> results;
    test::everywhere([&] {
      std::atomic<std::uint64_t> blocks{0};
      const double sum = nopal::reduce_blocks(
          std::size_t{0}, n, 0.0,
          [&](std::size_t from, std::size_t to, double so_far) {
            blocks += (from + 1) * (to + 7);
            for (; from < to; ++from) so_far += v[from] * v[from];
            return so_far;
          },
          std::plus<>{});
      results.push_back(std::bit_cast<std::uint64_t>(sum));
      results.push_back(blocks);
    });
    for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], results[i % 2]);
  }
}

TEST(reduce_blocks, throws_what_serial_execution_would_have_thrown_first) {
  test::everywhere([] {
    for (const std::size_t n : {1U, 2U, 7U, 64U, 3000U}) {
      for (std::size_t at = 0; at < n; at += n < 100 ? 1 : 271) {
        try {
          nopal::reduce_blocks(
              std::size_t{0}, n, 0,
              [at](std::size_t from, std::size_t to, int) {
                for (; from < to; ++from) {
                  if (from >= at && (from - at) % 20 == 0) throw test::thrown{from};
                }
                return 1;
              },
              std::plus<>{});
          ADD_FAILURE();
        } catch (const test::thrown& e) {
          EXPECT_EQ(e.where, at);
        }
      }
    }
  });
}

// ---- Values that are hard to copy.

template <class T>
class sums_hostile : public testing::Test {};
using kinds =
    testing::Types<test::hostile::greedy, test::hostile::two_copies, test::hostile::without_operators, test::hostile::with_other_operators>;
TYPED_TEST_SUITE(sums_hostile, kinds);

TYPED_TEST(sums_hostile, are_summed_up) {
  using T = TypeParam;
  test::everywhere([] {
    for (const std::size_t n : {1U, 2U, 64U, 5000U}) {
      std::vector<T> v, out;
      for (std::size_t i = 0; i < n; ++i) {
        v.push_back(T::make(static_cast<long>(i * i)));
        out.push_back(T::make(0));
      }
      const auto add = [](const T& a, const T& b) { return T::make(a.get() + b.get()); };
      const auto numbers = [](const std::vector<T>& values) {
        std::vector<long> result;
        for (const T& x : values) result.push_back(x.get());
        return result;
      };
      const auto plain = numbers(v);
      std::vector<long> expected(n);
      std::adjacent_difference(plain.begin(), plain.end(), expected.begin());
      const auto minus = [](const T& a, const T& b) { return T::make(a.get() - b.get()); };
      nopal::adjacent_difference(v, out.begin(), minus);
      EXPECT_EQ(numbers(out), expected);
      nopal::adjacent_difference(v, out.begin(), slow(minus));
      EXPECT_EQ(numbers(out), expected);
      const auto doubled = [](const T& x) { return T::make(2 * x.get()); };
      std::transform_inclusive_scan(plain.begin(), plain.end(), expected.begin(), std::plus<>{}, [](long x) { return 2 * x; });
      nopal::transform_inclusive_scan(v, out.begin(), add, doubled);
      EXPECT_EQ(numbers(out), expected);
      nopal::transform_inclusive_scan(v, out.begin(), add, [](T& x) -> T& { return x; });
      EXPECT_EQ(out.back().get(), std::accumulate(plain.begin(), plain.end(), 0L));
      std::transform_exclusive_scan(plain.begin(), plain.end(), expected.begin(), 7L, std::plus<>{}, [](long x) { return 2 * x; });
      nopal::transform_exclusive_scan(v, out.begin(), T::make(7), add, doubled);
      EXPECT_EQ(numbers(out), expected);
      const auto sum = [&](auto from, auto to, T so_far) {
        for (; from != to; ++from) so_far = add(so_far, *from);
        return so_far;
      };
      EXPECT_EQ(nopal::reduce_blocks(v, T::make(0), sum, add).get(), std::accumulate(plain.begin(), plain.end(), 0L));
    }
  });
}

TEST(sums_hostile, lie_where_they_must) {
  using test::hostile::wide;
  test::everywhere([] {
    std::vector<wide> v, out(5000, wide{0});
    for (long i = 0; i < 5000; ++i) v.push_back(wide{2 * i});
    nopal::adjacent_difference(v, out.begin(), slow([](const wide& a, const wide& b) { return wide{a.get() - b.get()}; }));
    EXPECT_EQ(out.back().get(), 2);
  });
}

TEST(sums_hostile, are_left_as_they_were_where_copies_throw) {
  using test::hostile::throwing;
  test::everywhere([] {
    std::vector<throwing> v(3000, throwing{1}), out(3000, throwing{0});
    const auto minus = [](const throwing& a, const throwing& b) { return throwing{a.n - b.n}; };
    for (const long after : {1L, 2L, 100L}) {
      throwing::left = after;
      EXPECT_THROW(nopal::adjacent_difference(v, out.begin(), minus), throwing::failure);
      throwing::left = after;
      EXPECT_THROW(nopal::reduce_blocks(
                       v, throwing{0}, [](auto, auto, throwing x) { return x; }, [](throwing a, const throwing&) { return a; }),
                   throwing::failure)
          << after;
      throwing::left = 0;
      for (const auto& x : v) EXPECT_EQ(x.n, 1);
    }
  });
}

}  // namespace

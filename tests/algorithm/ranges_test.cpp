// Ranges of odd kinds: elements that are temporary values, ranges without an end or with an end that is found by walking, arrays by
// pointers.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/pool.hpp"

namespace {

struct pair_of_numbers {
  long a;
  long b;
  [[nodiscard]] const long& get_b() const { return b; }
};
struct big {
  explicit big(long v) : value{v}, text(40, static_cast<char>('a' + v % 26)) {}
  big(const big&) = delete;
  big(big&&) = default;
  long value;
  std::string text;
};

constexpr auto same = [](const auto& x) -> const auto& { return x; };

// Each element is a value that is destroyed at the end of the expression which reads it.
TEST(ranges, values_live_as_long_as_they_are_used) {
  test::everywhere([] {
    for (const int n : {0, 1, 31, 1000, 20'000}) {
      const long sum = static_cast<long>(n) * (n - 1) / 2;
      const auto numbers = std::views::iota(0, n);
      EXPECT_EQ(nopal::reduce(numbers, 0L), sum);
      EXPECT_EQ(nopal::reduce(numbers, 0.0), static_cast<double>(sum));
      EXPECT_EQ(nopal::reduce(numbers, 0L, std::plus<>{}, same), sum);
      EXPECT_EQ(nopal::reduce(numbers | std::views::reverse, 0L), sum);
      EXPECT_EQ(nopal::transform_reduce(numbers, 0L, std::plus<>{}, same), sum);
      EXPECT_EQ(nopal::transform_reduce(numbers, numbers, 0L, std::plus<>{}, [](const int& a, const int&) -> const int& { return a; }),
                sum);
      const auto longs = numbers | std::views::transform([](int i) { return long{i}; });
      EXPECT_EQ(nopal::reduce(longs), sum);
      EXPECT_EQ(nopal::reduce(longs | std::views::reverse, 0L), sum);
      const auto pairs = numbers | std::views::transform([](int i) { return pair_of_numbers{0, i}; });
      EXPECT_EQ(nopal::reduce(pairs, 0L, std::plus<>{}, &pair_of_numbers::b), sum);
      EXPECT_EQ(nopal::reduce(pairs, 0L, std::plus<>{}, &pair_of_numbers::get_b), sum);
      EXPECT_EQ(nopal::transform_reduce(pairs, 0L, std::plus<>{}, &pair_of_numbers::b), sum);
      const auto bigs = numbers | std::views::transform([](int i) { return big{i}; });
      EXPECT_EQ(nopal::reduce(bigs, 0L, std::plus<>{}, &big::value), sum);
      const auto texts = numbers | std::views::transform([](int i) { return std::string(static_cast<std::size_t>(i % 50), 'x'); });
      std::string all;
      for (const std::string& text : texts) all += text;
      EXPECT_EQ(nopal::reduce(texts, std::string{}), all);
      EXPECT_EQ(nopal::reduce(texts, std::string{}, std::plus<>{}, same), all);
      EXPECT_EQ(nopal::reduce(texts, std::size_t{0}, std::plus<>{}, &std::string::size), all.size());
      EXPECT_EQ(nopal::max_element(longs, {}, same), std::ranges::max_element(longs, {}, same));
      EXPECT_EQ(nopal::count_if(texts, [](const std::string& s) { return s.size() == 7; }, same), n / 50 + (n % 50 > 7 ? 1 : 0));
    }
  });
}

TEST(ranges, proxies_refer_to_elements) {
  std::vector<bool> bits(5000);
  for (std::size_t i = 0; i < bits.size(); i += 3) bits[i] = true;
  std::vector<long> longs(5000);
  std::iota(longs.begin(), longs.end(), 0L);
  std::vector<std::string> texts;
  for (const long x : longs) texts.push_back("a long text that lies on the heap " + std::to_string(x));
  const auto both = std::views::iota(std::size_t{0}, longs.size()) |
                    std::views::transform([&](std::size_t i) { return std::pair<long&, std::string&>{longs[i], texts[i]}; });
  std::string all;
  for (const std::string& text : texts) all += text;
  test::everywhere([&] {
    EXPECT_EQ(nopal::reduce(bits, 0), 1667);
    EXPECT_EQ(nopal::reduce(std::as_const(bits), 0), 1667);
    EXPECT_EQ(nopal::transform_reduce(bits, bits, 0, std::plus<>{}, [](bool a, bool b) { return a && b ? 1 : 0; }), 1667);
    EXPECT_EQ(nopal::reduce(both, 0L, std::plus<>{}, [](const auto& p) -> long& { return p.first; }), 4999L * 2500);
    EXPECT_EQ(nopal::reduce(both, std::string{}, std::plus<>{}, [](const auto& p) -> std::string& { return p.second; }), all);
    EXPECT_EQ(nopal::reduce(both | std::views::values, std::string{}), all);
    EXPECT_EQ(nopal::reduce(std::counted_iterator{longs.begin(), 5000}, std::default_sentinel, 0L), 4999L * 2500);
    const auto second = both | std::views::values;
    EXPECT_EQ(nopal::find(second, texts[4000]) - second.begin(), 4000);
    std::vector<char> out(bits.size());
    nopal::transform(bits, out.begin(), [](bool b) { return b ? 'y' : 'n'; });
    EXPECT_EQ(std::ranges::count(out, 'y'), 1667);
  });
  EXPECT_EQ(texts[4999], "a long text that lies on the heap 4999") << "a reduction leaves the elements as they are";
}

// 42 is found where a serial search finds it, and little after it is read.
TEST(ranges, searches_without_an_end_find_the_first) {
  test::everywhere([] {
    const auto all = std::views::iota(0L);
    for (const long x : {0L, 1L, 42L, 63L, 64L, 1000L, 200'000L}) {
      EXPECT_EQ(*nopal::find(all, x), x);
      EXPECT_EQ(*nopal::find(std::views::iota(3L) | std::views::drop(2), x + 5), x + 5);
      EXPECT_EQ(*nopal::find(all.begin(), std::unreachable_sentinel, x), x);
      const auto squares = all | std::views::transform([](long i) { return i * i; });
      EXPECT_EQ(*nopal::find(squares, x * x), x * x);
      auto later_squares = squares | std::views::drop(1);
      EXPECT_EQ(nopal::find(later_squares, (x + 1) * (x + 1)) - later_squares.begin(), x);
      EXPECT_EQ(nopal::find_if(squares.begin(), squares.end(), [x](long i) { return i >= x * x; }) - squares.begin(), x);
      std::atomic<long> farthest{0};
      const auto reached = [&](long i) {
        long before = farthest.load();
        while (before < i && !farthest.compare_exchange_weak(before, i)) {
        }
        return i == x;
      };
      EXPECT_TRUE(nopal::any_of(all, reached));
      EXPECT_LT(farthest.load(), std::max(2 * x + 1, 64L));
      EXPECT_FALSE(nopal::none_of(all, [x](long i) { return i == x; }));
      EXPECT_FALSE(nopal::all_of(all, [x](long i) { return i < x; }));
    }
  });
}

TEST(ranges, searches_without_an_end_throw_what_a_serial_one_would_have_met) {
  test::everywhere([] {
    const auto all = std::views::iota(0);
    for (const int at : {0, 5, 63, 64, 500, 5000}) {
      const auto throws = [at](int i) {
        if (i >= at) throw test::thrown{static_cast<std::size_t>(i)};
        return false;
      };
      try {
        static_cast<void>(nopal::find_if(all, throws));
        ADD_FAILURE();
      } catch (const test::thrown& e) {
        EXPECT_EQ(e.where, static_cast<std::size_t>(at));
      }
      const auto hits_before = [at](int i) {
        if (i > at) throw test::thrown{static_cast<std::size_t>(i)};
        return i == at;
      };
      EXPECT_EQ(*nopal::find_if(all, hits_before), at);
    }
  });
}

// Numbers end, even if their range does not: the last is found, and no later one is made.
TEST(ranges, searches_without_an_end_stop_at_the_last_number) {
  constexpr int last = std::numeric_limits<int>::max();
  for (const int first : {last, last - 1, last - 63, last - 64, last - 65, last - 1000}) {
    EXPECT_EQ(*nopal::find(std::views::iota(first), last), last);
    EXPECT_THROW(static_cast<void>(nopal::find(std::views::iota(first), 0)), std::out_of_range);
  }
  EXPECT_EQ(*nopal::find(std::views::iota(static_cast<signed char>(-128)), 127), 127);
  EXPECT_EQ(*nopal::find(std::views::iota(250'000'000U), 250'000'100U), 250'000'100U);
  EXPECT_EQ(*nopal::find(std::views::iota(std::numeric_limits<unsigned>::max()), 5U), 5U) << "without a sign they begin again";
}

// A search with an end does not visit all that is after the match either.
TEST(ranges, searches_of_all_numbers_end_with_the_place_that_is_found) {
  test::everywhere([] {
    const auto all = std::views::iota(0L, std::numeric_limits<long>::max());
    for (const long x : {0L, 42L, 200'000L}) EXPECT_EQ(*nopal::find(all, x), x);
  });
}

// If only the caller knows that the element exists, nothing after it may be accessed: here that would be outside the array.
TEST(ranges, searches_of_memory_touch_nothing_behind) {
  test::everywhere([] {
    std::vector<int> v(1000);
    v.back() = 1;
    v.shrink_to_fit();
    EXPECT_EQ(nopal::find(v.begin(), std::unreachable_sentinel, 1), v.end() - 1);
    std::size_t asked = 0;  // by one thread
    const auto to_the_last = std::ranges::subrange(v.data(), std::unreachable_sentinel);
    EXPECT_EQ(nopal::find_if(to_the_last, [&](int x) { return ++asked, x == 1; }), v.data() + 999);
    EXPECT_EQ(asked, 1000U);
    asked = 0;
    const auto doubled = to_the_last | std::views::transform([&](int x) { return ++asked, 2 * x; });
    EXPECT_TRUE(nopal::any_of(doubled, [](int x) { return x == 2; }));
    EXPECT_EQ(asked, 1000U);
  });
}

struct zero_ends {
  friend bool operator==(const char* it, zero_ends) { return *it == '\0'; }
};
struct throws_at {
  const char* place;
  friend bool operator==(const char* it, throws_at end) {
    if (it == end.place) throw test::thrown{0};
    return false;
  }
};

TEST(ranges, ends_that_are_found_by_walking) {
  std::string text;
  for (int i = 0; text.size() < 5000; ++i) text += std::to_string(i) + ' ';
  const std::size_t n = text.size();
  const std::ranges::subrange whole{text.c_str(), zero_ends{}};
  test::everywhere([&] {
    EXPECT_EQ(nopal::find(whole, ' '), std::ranges::find(text, ' ').base());
    EXPECT_EQ(nopal::find(whole, 'x') - text.c_str(), static_cast<std::ptrdiff_t>(n));
    EXPECT_TRUE(nopal::none_of(whole, [](char c) { return c == 'x'; }));
    EXPECT_EQ(nopal::count(whole, '7'), std::ranges::count(text, '7'));
    EXPECT_EQ(nopal::reduce(whole, 0L), std::accumulate(text.begin(), text.end(), 0L));
    EXPECT_EQ(nopal::transform_reduce(whole, std::views::iota(0), 0L),
              std::inner_product(text.begin(), text.end(), std::views::iota(0).begin(), 0L));
    EXPECT_EQ(nopal::max_element(whole), std::ranges::max_element(text).base());
    // An exception of the walk to the end is later than those of the elements that it has passed.
    const std::ranges::subrange broken{text.c_str(), throws_at{text.c_str() + 3000}};
    EXPECT_EQ(nopal::find(broken, text[10]), std::ranges::find(text, text[10]).base());
    EXPECT_THROW(static_cast<void>(nopal::find(broken, 'x')), test::thrown);
    const auto small = std::views::iota(0) | std::views::take_while([](int i) { return i < 3000; });
    EXPECT_EQ(nopal::reduce(small, 0L), 2999L * 1500);
    EXPECT_EQ(nopal::count_if(small, [](int i) { return i % 2 == 0; }), 1500);
  });
}

TEST(ranges, a_second_range_bounds_only_where_it_is_shorter) {
  test::everywhere([] {
    for (const std::size_t n : {0U, 1U, 100U, 5000U}) {
      const auto v = test::numbers<long>(n, 1000);
      std::vector<long> expected(n);
      std::vector<long> out(n);
      for (std::size_t i = 0; i < n; ++i) expected[i] = v[i] * static_cast<long>(i);
      const auto all = std::views::iota(0L);
      const auto same_numbers = all | std::views::transform([](long i) { return i; });
      EXPECT_EQ(nopal::transform(v, all, out.begin(), std::multiplies<>{}).out, out.end());
      EXPECT_EQ(out, expected);
      nopal::fill(out, 0);
      const auto ends = nopal::transform(same_numbers, v, out.begin(), std::multiplies<>{});
      EXPECT_EQ(out, expected);
      EXPECT_EQ(ends.in1 - same_numbers.begin(), static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(ends.in2, v.end());
      nopal::fill(out, 0);
      nopal::transform(v.begin(), v.end(), all.begin(), std::unreachable_sentinel, out.begin(), std::multiplies<>{});
      EXPECT_EQ(out, expected);
      EXPECT_EQ(nopal::transform_reduce(v, all, 0L), std::reduce(expected.begin(), expected.end()));
      EXPECT_EQ(nopal::transform_reduce(same_numbers, v, 0L), std::reduce(expected.begin(), expected.end()));
      std::string text(n / 2, 'x');
      const std::ranges::subrange zero_ended{text.c_str(), zero_ends{}};
      EXPECT_EQ(nopal::transform(v, zero_ended, out.begin(), std::plus<>{}).out - out.begin(), static_cast<std::ptrdiff_t>(n / 2));
      EXPECT_EQ(nopal::transform(zero_ended, zero_ended, out.begin(), std::plus<>{}).out - out.begin(), static_cast<std::ptrdiff_t>(n / 2));
    }
  });
}

TEST(ranges, take_gives_an_end) {
  test::everywhere([] {
    for (const int n : {0, 1, 1000, 100'000}) {
      const long sum = static_cast<long>(n) * (n - 1) / 2;
      const auto some = std::views::iota(0) | std::views::take(n);
      EXPECT_EQ(nopal::reduce(some, 0L), sum);
      EXPECT_EQ(nopal::reduce(some.begin(), some.end(), 0L), sum);
      EXPECT_EQ(nopal::transform_reduce(some, 0L, std::plus<>{}, std::identity{}), sum);
      EXPECT_EQ(
          nopal::transform_reduce(some, std::views::iota(1) | std::views::take(n), 0L, std::plus<>{}, [](int, int b) { return b - 1; }),
          sum);
      EXPECT_EQ(nopal::count_if(some, [](int i) { return i >= 0; }), n);
      const auto doubled = some | std::views::transform([](int i) { return 2L * i; });
      EXPECT_EQ(nopal::reduce(doubled, 0L), 2 * sum);
      EXPECT_EQ(nopal::reduce(doubled | std::views::drop(1), 0L), 2 * sum);
      EXPECT_EQ(nopal::reduce(std::views::iota(0) | std::views::transform([](int i) { return 2L * i; }) | std::views::take(n), 0L),
                2 * sum);
      EXPECT_EQ(nopal::find(some, n).count(), 0);
      std::vector<int> out(static_cast<std::size_t>(n));
      EXPECT_EQ(nopal::transform(some, out.begin(), std::identity{}).out, out.end());
      EXPECT_TRUE(std::ranges::equal(out, std::views::iota(0, n)));
    }
  });
}

TEST(ranges, an_array_and_its_end_are_a_pair_of_iterators) {
  int q[5] = {1, 2, 3, 4, 5};
  EXPECT_EQ(nopal::reduce(q, q + 5), 15);
  EXPECT_EQ(nopal::reduce(q, q + 4, 1), 11);
  EXPECT_EQ(nopal::reduce(q, q + 5, 2L, std::multiplies<>{}), 240);
  EXPECT_EQ(nopal::reduce(q, q + 5, 0, std::plus<>{}, std::negate<>{}), -15);
  EXPECT_EQ(nopal::reduce(q, q + 5, 0, std::plus<>{}, nopal::grain{2}), 15);
  EXPECT_EQ(nopal::reduce(q), 15);
  EXPECT_EQ(nopal::reduce(q, 1), 16);
  const int c[3] = {1, 2, 3};
  EXPECT_EQ(nopal::reduce(c, c + 3), 6);
  EXPECT_EQ(nopal::transform_reduce(q, q + 5, 0, std::plus<>{}, std::negate<>{}), -15);
  EXPECT_EQ(nopal::transform_reduce(q, q + 5, q, 0), 55);
  int out[5];
  EXPECT_EQ(nopal::inclusive_scan(q, q + 5, out).out, out + 5);
  EXPECT_EQ(out[4], 15);
  EXPECT_EQ(nopal::exclusive_scan(q, q + 5, out, 1).out, out + 5);
  EXPECT_EQ(out[4], 11);
  nopal::for_each(q, q + 5, [](int& x) { x = -x; });
  nopal::sort(q, q + 5);
  EXPECT_EQ(nopal::min_element(q, q + 5), q);
  EXPECT_EQ(nopal::find(q, q + 5, -3), q + 2);
  EXPECT_EQ(nopal::count(q, q + 5, -3), 1);
  EXPECT_EQ(nopal::transform(q, q + 5, out, std::negate<>{}).out, out + 5);
  EXPECT_EQ(nopal::transform(q, q + 5, out, out + 5, out, std::plus<>{}).out, out + 5);
  EXPECT_EQ(nopal::copy_if(q, q + 5, out, [](int x) { return x < -1; }).out, out + 4);
  nopal::fill(q, q + 5, 7);
  nopal::iota(q, q + 5, 1);
  EXPECT_EQ(nopal::any_of(q, q + 5, [](int x) { return x == 5; }), true);
  EXPECT_EQ(nopal::histogram(q, q + 5, 6), (std::vector<std::size_t>{0, 1, 1, 1, 1, 1}));
}

// The same bits on any number of workers, as each is rounded once.
TEST(ranges, iota_takes_floating_point_numbers) {
  test::everywhere([] {
    std::vector<double> v(20'000);
    const auto result = nopal::iota(v, 0.1);
    EXPECT_EQ(result.out, v.end());
    EXPECT_EQ(result.value, 0.1 + 20'000);
    for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], 0.1 + static_cast<double>(i));
    std::vector<float> whole(5000);
    std::vector<float> expected(5000);
    nopal::iota(whole.begin(), whole.end(), 1.0F);
    std::iota(expected.begin(), expected.end(), 1.0F);
    EXPECT_EQ(whole, expected);
  });
}

}  // namespace

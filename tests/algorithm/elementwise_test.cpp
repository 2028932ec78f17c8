// for_each, transform, fill, generate and iota beside the standard library's.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/fill.hpp"
#include "nopal/algorithm/for_each.hpp"
#include "nopal/algorithm/transform.hpp"

namespace {

struct point {
  int x;
  int y;
  void swap() { std::swap(x, y); }
};

/// Callable only if const.
struct const_callable {
  int operator()(int x) const { return x + 1; }
  void operator()(int) = delete;
};

int twice(int x) { return 2 * x; }

TEST(elementwise, for_each_visits_each_element_once) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      std::vector<int> v(n);
      const auto result = nopal::for_each(v, [](int& x) { ++x; });
      EXPECT_EQ(result.in, v.end());
      nopal::for_each(v.begin(), v.end(), [](int& x) { x += 2; });
      EXPECT_EQ(std::ranges::count(v, 3), static_cast<std::ptrdiff_t>(n));
      int one = 5;
      result.fun(one);
      EXPECT_EQ(one, 6);
    }
    std::vector<point> points(1000, point{1, 2});
    nopal::for_each(points, &point::swap);
    nopal::for_each(points, [](int& x) { x += 10; }, &point::x);
    EXPECT_TRUE(std::ranges::all_of(points, [](const point& p) { return p.x == 12 && p.y == 1; }));
    std::atomic<std::int64_t> sum{0};
    nopal::for_each(std::views::iota(std::int64_t{0}, std::int64_t{1000}), [&](std::int64_t i) { sum += i; });
    EXPECT_EQ(sum.load(), 499'500);
    EXPECT_TRUE((std::is_same_v<decltype(nopal::for_each(std::vector<int>{}, twice).in), std::ranges::dangling>));
  });
}

TEST(elementwise, transform_writes_each_result) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<int>(n, 1000);
      std::vector<int> expected(n);
      std::ranges::transform(v, expected.begin(), twice);
      std::vector<int> w(n);
      const auto result = nopal::transform(v, w.begin(), twice);
      EXPECT_EQ(result.in, v.end());
      EXPECT_EQ(result.out, w.end());
      EXPECT_TRUE(w == expected);
      auto in_place = v;
      nopal::transform(in_place.begin(), in_place.end(), in_place.begin(), twice);
      EXPECT_TRUE(in_place == expected);
      std::deque<int> sums(n + 5);
      const auto both =
          nopal::transform(v, std::views::iota(0, static_cast<int>(n) + 3), sums.begin(), std::plus<>{}, std::identity{}, std::negate<>{});
      EXPECT_EQ(both.in1, v.end());
      EXPECT_EQ(*both.in2, static_cast<int>(n));
      EXPECT_EQ(both.out, sums.begin() + static_cast<std::ptrdiff_t>(n));
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(sums[i], v[i] - static_cast<int>(i));
      std::vector<int> of_const(n);
      const const_callable next;
      nopal::transform(v, of_const.begin(), std::cref(next));
      EXPECT_TRUE(std::ranges::equal(of_const, v, {}, {}, [](int x) { return x + 1; }));
    }
    const std::vector<point> points(100, point{3, 4});
    std::vector<std::string> texts(100);
    nopal::transform(points, texts.begin(), [](int y) { return std::to_string(y); }, &point::y);
    EXPECT_EQ(std::ranges::count(texts, "4"), 100);
  });
}

TEST(elementwise, fill_generate_and_iota_write_each_element) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      std::vector<std::string> texts(n);
      EXPECT_EQ(nopal::fill(texts, "text"), texts.end());
      EXPECT_EQ(std::ranges::count(texts, "text"), static_cast<std::ptrdiff_t>(n));
      std::vector<test::wide> wide(n, test::wide{0});
      EXPECT_EQ(nopal::fill(wide.begin(), wide.end(), test::wide{7}), wide.end());
      EXPECT_EQ(std::ranges::count(wide, 7, &test::wide::value), static_cast<std::ptrdiff_t>(n));
      std::vector<std::size_t> v(n);
      std::atomic<std::size_t> calls{0};
      EXPECT_EQ(nopal::generate(v, [&] { return calls++; }), v.end());
      std::ranges::sort(v);
      EXPECT_TRUE(std::ranges::equal(v, std::views::iota(std::size_t{0}, n)));
      nopal::fill(v, 0U);
      const auto counted = nopal::iota(v, 5U);
      EXPECT_EQ(counted.out, v.end());
      EXPECT_EQ(counted.value, n + 5);
      EXPECT_TRUE(std::ranges::equal(v, std::views::iota(std::size_t{5}, n + 5)));
      std::vector<std::int8_t> small(n);
      std::vector<std::int8_t> expected(n);
      std::iota(expected.begin(), expected.end(), std::int8_t{-3});
      nopal::iota(small.begin(), small.end(), std::int8_t{-3});
      EXPECT_TRUE(small == expected);
      std::vector<const std::size_t*> places(n);
      nopal::iota(places, v.data());
      EXPECT_TRUE(n == 0 || (places.front() == v.data() && places.back() == &v.back()));
    }
  });
}

/// Knows whether it is an element, and counts how often one is what others are assigned from.
struct knows_its_place {
  knows_its_place() = default;
  knows_its_place(const knows_its_place& other) : value{other.value} { ++copies; }
  knows_its_place& operator=(const knows_its_place& other) {
    if (other.is_element) ++from_elements;
    value = other.value;
    return *this;
  }
  int value = 0;
  bool is_element = false;
  static inline std::atomic<int> copies{0};
  static inline std::atomic<int> from_elements{0};
};

// Else one thread would read the element while another assigns to it.
TEST(elementwise, fill_takes_one_of_the_elements) {
  const auto fills = [](auto v) {
    const std::size_t n = v.size();
    for (auto& x : v) x.is_element = true;
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      v[at].value = static_cast<int>(at) + 1;
      EXPECT_EQ(nopal::fill(v, v[at]), v.end());
      EXPECT_EQ(std::ranges::count(v, static_cast<int>(at) + 1, &knows_its_place::value), static_cast<std::ptrdiff_t>(n));
      v[at].value = -1;
      EXPECT_EQ(nopal::fill_n(v.begin(), static_cast<std::ptrdiff_t>(n), v[at]), v.end());
      EXPECT_EQ(std::ranges::count(v, -1, &knows_its_place::value), static_cast<std::ptrdiff_t>(n));
    }
    EXPECT_EQ(knows_its_place::from_elements.load(), 0);
  };
  test::everywhere([&] {
    for (const std::size_t n : {std::size_t{1}, std::size_t{64}, test::sizes.back()}) {
      fills(std::vector<knows_its_place>(n));
      fills(std::deque<knows_its_place>(n));
      auto v = test::numbers<int>(n);
      const int last = v.back();
      nopal::fill(v, v.back());
      EXPECT_EQ(std::ranges::count(v, last), static_cast<std::ptrdiff_t>(n));
    }
    std::vector<knows_its_place> v(100);
    const knows_its_place other;
    knows_its_place::copies = 0;
    nopal::fill(v, other);
    nopal::fill_n(v.begin(), 50, v[50]);
    EXPECT_EQ(knows_its_place::copies.load(), 0) << "a vector knows that it is none of its elements";
  });
}

// The exception is that of the first element, by place, that throws, and all before it have been visited.
TEST(elementwise, throws_what_serial_execution_would_have_met_first) {
  test::everywhere([] {
    for (const std::size_t n : {1U, 2U, 7U, 64U, 3000U}) {
      for (std::size_t at = 0; at < n; at += n < 100 ? 1 : 271) {
        std::vector<std::atomic<int>> visited(n);
        std::vector<std::size_t> places(n);
        std::iota(places.begin(), places.end(), std::size_t{0});
        const auto visit = [&](std::size_t i) {
          ++visited[i];
          if (i >= at && (i - at) % 50 == 0) throw test::thrown{i};
          return i;
        };
        const auto throws = [&](const auto& f) {
          for (auto& count : visited) count = 0;
          try {
            f();
            ADD_FAILURE() << "nothing was thrown";
          } catch (const test::thrown& e) {
            EXPECT_EQ(e.where, at);
          }
          for (std::size_t i = 0; i < at; ++i) ASSERT_EQ(visited[i].load(), 1);
          for (std::size_t i = at; i < n; ++i) ASSERT_LE(visited[i].load(), 1);
        };
        std::vector<std::size_t> out(n);
        throws([&] { nopal::for_each(places, visit); });
        throws([&] { nopal::transform(places, out.begin(), visit); });
        throws([&] { nopal::transform(places, places, out.begin(), [&](std::size_t i, std::size_t) { return visit(i); }); });
      }
    }
  });
}

TEST(elementwise, generate_ends_at_the_first_that_throws) {
  test::everywhere([] {
    std::vector<int> v(5000);
    EXPECT_THROW(nopal::generate(v, []() -> int { throw test::thrown{0}; }), test::thrown);
  });
}

TEST(elementwise, nests) {
  test::everywhere([] {
    std::vector<std::vector<int>> rows(100, std::vector<int>(2000));
    nopal::for_each(rows, [](std::vector<int>& row) { nopal::iota(row, 0); });
    nopal::for_each(rows, [](std::vector<int>& row) { nopal::transform(row, row.begin(), twice); });
    for (const auto& row : rows) ASSERT_EQ(row[1999], 3998);
  });
}

}  // namespace

// find, find_if, any_of, all_of, none_of, count, count_if, min_element, max_element and minmax_element beside the standard library's.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/all_of.hpp"
#include "nopal/algorithm/count.hpp"
#include "nopal/algorithm/find.hpp"
#include "nopal/algorithm/minmax.hpp"

namespace {

template <class R>
void finds_as_std(R&& v) {
  for (const int x : {0, 3, 999, 1000}) {
    const auto is = [x](int y) { return x == y; };
    EXPECT_EQ(nopal::find(v, x), std::ranges::find(v, x));
    EXPECT_EQ(nopal::find_if(v, is), std::ranges::find_if(v, is));
    EXPECT_EQ(nopal::find(v.begin(), v.end(), -x, std::negate<>{}), std::ranges::find(v, x));
    EXPECT_EQ(nopal::any_of(v, is), std::ranges::any_of(v, is));
    EXPECT_EQ(nopal::none_of(v, is), std::ranges::none_of(v, is));
    EXPECT_EQ(nopal::all_of(v, std::not_fn(is)), std::ranges::all_of(v, std::not_fn(is)));
    EXPECT_EQ(nopal::count(v, x), std::ranges::count(v, x));
    EXPECT_EQ(nopal::count_if(v.begin(), v.end(), is), std::ranges::count(v, x));
  }
  EXPECT_EQ(nopal::min_element(v), std::ranges::min_element(v));
  EXPECT_EQ(nopal::max_element(v), std::ranges::max_element(v));
  EXPECT_EQ(nopal::max_element(v, std::greater<>{}), std::ranges::max_element(v, std::greater<>{}));
  const auto both = nopal::minmax_element(v, {}, [](int x) { return x / 10; });
  const auto expected = std::ranges::minmax_element(v, {}, [](int x) { return x / 10; });
  EXPECT_EQ(both.min, expected.min);
  EXPECT_EQ(both.max, expected.max);
}

TEST(search, finds_the_first_and_counts_all) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<int>(n, 1000);
      finds_as_std(v);
      finds_as_std(std::vector<int>(n, 3));
      finds_as_std(std::deque<int>(v.begin(), v.end()));
      finds_as_std(std::views::iota(0, static_cast<int>(n)));
    }
    finds_as_std(test::numbers<int>(test::large, 100'000));
  });
}

TEST(search, takes_members_and_what_can_only_be_moved) {
  std::vector<test::only_moves> v;
  for (const int x : test::numbers<int>(2000, 100)) v.emplace_back(x);
  EXPECT_EQ(nopal::find(v, 7, &test::only_moves::get), std::ranges::find(v, 7, &test::only_moves::get));
  EXPECT_EQ(nopal::min_element(v, {}, &test::only_moves::get), std::ranges::min_element(v, {}, &test::only_moves::get));
  EXPECT_EQ(nopal::min_element(v, std::less{}), std::ranges::min_element(v, std::less{}, &test::only_moves::get));
  const std::vector<std::string> texts = {"", "a", ""};
  EXPECT_EQ(nopal::find_if(texts, &std::string::size), texts.begin() + 1);
  EXPECT_TRUE((std::is_same_v<decltype(nopal::find(std::vector<int>{}, 1)), std::ranges::dangling>));
}

// A serial search would not have reached what is after the found place: exceptions there do not count.
TEST(search, throws_only_what_comes_before_the_place_that_is_found) {
  test::everywhere([] {
    for (const std::size_t n : {2U, 7U, 64U, 3000U}) {
      const auto v = std::views::iota(std::size_t{0}, n);
      const std::size_t step = n < 100 ? 1 : 331;
      for (std::size_t hit = 0; hit < n; hit += step) {
        for (std::size_t at = 0; at < n; at += step) {
          if (at == hit) continue;
          const auto is_hit = [=](std::size_t i) {
            if (i >= at && (i - at) % 20 == 0 && i != hit) throw test::thrown{i};
            return i == hit;
          };
          try {
            EXPECT_EQ(nopal::find_if(v, is_hit), v.begin() + static_cast<std::ptrdiff_t>(hit));
            EXPECT_TRUE(nopal::any_of(v, is_hit));
            EXPECT_LT(hit, at);
          } catch (const test::thrown& e) {
            EXPECT_EQ(e.where, at);
            EXPECT_LT(at, hit);
          }
        }
      }
    }
  });
}

TEST(search, counts_and_extremes_throw_what_serial_execution_would_have_met_first) {
  test::everywhere([] {
    for (const std::size_t n : {2U, 7U, 64U, 3000U}) {
      const auto v = test::numbers<int>(n);
      for (std::size_t at = 0; at < n; at += n < 100 ? 1 : 331) {
        const auto throws = [&](const int& x) {
          const auto i = static_cast<std::size_t>(&x - v.data());
          if (i >= at && (i - at) % 20 == 0) throw test::thrown{i};
          return x;
        };
        const auto where = [&](const auto& f) {
          try {
            f();
          } catch (const test::thrown& e) {
            return e.where;
          }
          return n;
        };
        EXPECT_EQ(where([&] { static_cast<void>(nopal::count_if(v, [](int x) { return x != 0; }, throws)); }), at);
        EXPECT_EQ(where([&] { static_cast<void>(nopal::count(v, 5, throws)); }), at);
        // A comparison may begin with the later of the two.
        EXPECT_LT(where([&] { static_cast<void>(nopal::min_element(v, {}, throws)); }), n);
        EXPECT_LT(where([&] { static_cast<void>(nopal::max_element(v, {}, throws)); }), n);
        EXPECT_LT(where([&] { static_cast<void>(nopal::minmax_element(v, {}, throws)); }), n);
      }
    }
  });
}

// A loop that cannot continue, here since there is no pool for it, has not searched at all: its exception is not an answer.
TEST(search, fails_where_the_loop_fails) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("NOPAL_WORKERS", "no number", 1);
        const std::vector<int> v(100'000'000);
        try {
          static_cast<void>(nopal::find(v, 1));
        } catch (const std::invalid_argument&) {
          std::_Exit(7);
        }
        std::_Exit(8);
      },
      testing::ExitedWithCode(7), "");
}

TEST(search, ends_early) {
  std::vector<int> v(10'000'000);
  v[1000] = 1;
  std::atomic<std::size_t> asked{0};
  const auto is_one = [&](int x) {
    asked.fetch_add(1, std::memory_order::relaxed);
    return x == 1;
  };
  nopal::pool pool{{.workers = 1}};
  pool.run([&] { EXPECT_EQ(nopal::find_if(v, is_one) - v.begin(), 1000); });
  EXPECT_LT(asked.load(), 2000U);
}

}  // namespace

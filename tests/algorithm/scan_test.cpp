// inclusive_scan, exclusive_scan, histogram and combinable.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "data.hpp"
#include "nopal/algorithm/combinable.hpp"
#include "nopal/algorithm/for_each.hpp"
#include "nopal/algorithm/histogram.hpp"
#include "nopal/algorithm/scan.hpp"

namespace {

/// Affine functions: composing them is associative and not commutative.
struct affine {
  std::uint32_t factor;
  std::uint32_t term;
  friend bool operator==(const affine&, const affine&) = default;
};
affine then(const affine& f, const affine& g) { return {f.factor * g.factor, f.term * g.factor + g.term}; }

TEST(scan, sums_as_std) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      const auto v = test::numbers<std::uint32_t>(n);
      std::vector<std::uint32_t> expected(n);
      std::vector<std::uint32_t> out(n);
      std::inclusive_scan(v.begin(), v.end(), expected.begin());
      const auto ends = nopal::inclusive_scan(v, out.begin());
      EXPECT_EQ(ends.in, v.end());
      EXPECT_EQ(ends.out, out.end());
      EXPECT_TRUE(out == expected);
      auto in_place = v;
      nopal::inclusive_scan(in_place.begin(), in_place.end(), in_place.begin(), std::plus<>{});
      EXPECT_TRUE(in_place == expected);

      std::vector<std::uint64_t> wide(n);
      std::vector<std::uint64_t> wide_expected(n);
      std::inclusive_scan(v.begin(), v.end(), wide_expected.begin(), std::plus<>{}, std::uint64_t{5});
      nopal::inclusive_scan(v, wide.begin(), std::plus<>{}, std::uint64_t{5});
      EXPECT_TRUE(wide == wide_expected);
      std::exclusive_scan(v.begin(), v.end(), wide_expected.begin(), std::uint64_t{5});
      EXPECT_EQ(nopal::exclusive_scan(v, wide.begin(), std::uint64_t{5}).out, wide.end());
      EXPECT_TRUE(wide == wide_expected);
      std::exclusive_scan(v.begin(), v.end(), expected.begin(), 7U);
      in_place = v;
      nopal::exclusive_scan(in_place.begin(), in_place.end(), in_place.begin(), 7U);
      EXPECT_TRUE(in_place == expected);

      std::vector<affine> functions;
      for (const auto x : v) functions.push_back({x | 1, x >> 7});
      std::vector<affine> composed(n);
      std::vector<affine> composed_expected(n);
      std::inclusive_scan(functions.begin(), functions.end(), composed_expected.begin(), then);
      nopal::inclusive_scan(functions, composed.begin(), then);
      EXPECT_TRUE(composed == composed_expected);
      std::exclusive_scan(functions.begin(), functions.end(), composed_expected.begin(), affine{3, 4}, then);
      nopal::exclusive_scan(functions, composed.begin(), affine{3, 4}, then);
      EXPECT_TRUE(composed == composed_expected);
    }
    std::deque<int> counted(5000);
    nopal::inclusive_scan(std::views::iota(1, 5001), counted.begin());
    EXPECT_EQ(counted.back(), 5000 * 5001 / 2);
    std::vector<std::string> letters(600, "a");
    nopal::inclusive_scan(letters, letters.begin());
    EXPECT_EQ(letters[599].size(), 600U);
  });
}

TEST(scan, rounds_alike_on_any_number_of_workers) {
  std::vector<double> v;
  for (const auto x : test::numbers<std::int64_t>(test::large)) v.push_back(static_cast<double>(x) * 1e-7);
  std::vector<std::vector<double>> results;
  test::everywhere([&] {
    std::vector<double> out(v.size());
    nopal::inclusive_scan(v, out.begin());
    results.push_back(out);
    nopal::exclusive_scan(v, out.begin(), 0.5);
    results.push_back(out);
  });
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(std::memcmp(results[i].data(), results[i % 2].data(), v.size() * sizeof(double)), 0);
  }
}

// One thread that scans alone adds up blocks in order, several do so in rounds.
TEST(scan, groups_blocks_alike_in_order_and_in_rounds) {
  test::everywhere([] {
    for (std::size_t blocks = 1; blocks < 200; ++blocks) {
      auto add = [](double a, double b) { return a + b; };
      std::vector<std::optional<double>> sums{std::nullopt};
      std::vector<double> in_order;
      nopal::core::algorithms::sums_in_order<double> groups{blocks};
      std::optional<double> before;
      for (const auto x : test::numbers<std::int64_t>(blocks)) {
        sums.emplace_back(static_cast<double>(x) * 1e-7);
        before = groups.up_to(in_order.size(), *sums.back(), before, add);
        in_order.push_back(*before);
      }
      nopal::core::algorithms::sum_up_behind<affine>(sums, add);
      for (std::size_t i = 0; i < blocks; ++i) EXPECT_EQ(*sums[i + 1], in_order[i]) << "block " << i << " of " << blocks;
    }
  });
}

// An operation of n elements that is worth several threads: n of them take 200 us or more.
template <class T>
auto dear_sum(std::size_t n) {
  return [n](T a, T b) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds{200'000 / n + 200};
    while (std::chrono::steady_clock::now() < end) continue;
    return a + b;
  };
}

// One worker scans in order, several in rounds.
TEST(scan, groups_few_dear_elements_alike_on_any_number_of_workers) {
  std::vector<std::vector<double>> first_results;
  test::everywhere([&] {
    std::vector<std::vector<double>> results;
    for (std::size_t n = 2; n < 1100; n += n < 70 ? 1 : 103) {
      std::vector<double> v;
      for (const auto x : test::numbers<std::int64_t>(n)) v.push_back(static_cast<double>(x) * 1e-7);
      results.emplace_back(n);
      nopal::inclusive_scan(v, results.back().begin(), dear_sum<double>(n));
      results.push_back(v);
      nopal::exclusive_scan(results.back(), results.back().begin(), 0.5, dear_sum<double>(n));
    }
    if (first_results.empty()) first_results = results;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::vector<double>& result = results[i];
      EXPECT_EQ(std::memcmp(result.data(), first_results[i].data(), result.size() * sizeof(double)), 0) << result.size() << " elements";
    }
  });
}

TEST(scan, throws_what_a_dear_operation_throws) {
  test::everywhere([] {
    for (const std::size_t n : {2U, 3U, 16U, 65U}) {
      const std::vector<int> v(n, 1);
      std::vector<int> out(n);
      for (std::size_t at = 0; at + 1 < n; ++at) {
        std::atomic<std::size_t> calls{0};
        const auto throws = [&, sum = dear_sum<int>(n)](int a, int b) {
          if (calls++ == at) throw test::thrown{at};
          return sum(a, b);
        };
        EXPECT_THROW(nopal::inclusive_scan(v, out.begin(), throws), test::thrown);
        calls = 0;
        EXPECT_THROW(nopal::exclusive_scan(v, out.begin(), 0, throws), test::thrown);
      }
    }
  });
}

TEST(scan, calls_a_dear_operation_no_more_than_twice_for_each_element) {
  test::everywhere([] {
    for (const int n : {16, 64, 256}) {
      const std::vector<int> v(static_cast<std::size_t>(n), 1);
      std::vector<int> out(v.size());
      std::atomic<int> calls{0};
      nopal::inclusive_scan(v, out.begin(), [&](int a, int b) {
        ++calls;
        std::this_thread::sleep_for(std::chrono::microseconds{50});
        return a + b;
      });
      EXPECT_EQ(out.back(), n);
      EXPECT_LE(calls, 2 * n);
    }
  });
}

TEST(scan, throws_what_the_operation_throws) {
  test::everywhere([] {
    for (const std::size_t n : {2U, 7U, 64U, 3000U}) {
      const std::vector<int> v(n, 1);
      std::vector<int> out(n);
      for (std::size_t at = 0; at + 1 < n; at += n < 100 ? 1 : 271) {
        std::atomic<std::size_t> calls{0};
        const auto throws = [&](int a, int b) {
          if (calls++ == at) throw test::thrown{at};
          return a + b;
        };
        EXPECT_THROW(nopal::inclusive_scan(v, out.begin(), throws), test::thrown);
        calls = 0;
        EXPECT_THROW(nopal::exclusive_scan(v, out.begin(), 0, throws), test::thrown);
      }
    }
  });
}

TEST(histogram, counts_each_bin) {
  test::everywhere([] {
    for (const std::size_t n : test::sizes) {
      for (const std::size_t bins : {1U, 7U, 256U, 50'000U}) {
        const auto v = test::numbers<int>(n, 1'000'000);
        std::vector<std::size_t> expected(bins);
        for (const int x : v) ++expected[static_cast<std::size_t>(x) % bins];
        EXPECT_TRUE(nopal::histogram(v, bins, [=](int x) { return static_cast<std::size_t>(x) % bins; }) == expected);
      }
    }
    EXPECT_EQ(nopal::histogram(std::vector<std::uint8_t>{3, 0, 3}, 4), (std::vector<std::size_t>{1, 0, 0, 2}));
  });
}

TEST(histogram, asks_for_a_bin_that_refers_to_what_an_element_was_converted_to) {
  std::vector<short> const v{3, 0, 3};
  EXPECT_EQ(nopal::histogram(v, 4, [](int const& bin) -> int const& { return bin; }), (std::vector<std::size_t>{1, 0, 0, 2}));
}

TEST(histogram, says_which_bin_there_is_not) {
  const auto message_of = [](int bin) {
    try {
      static_cast<void>(nopal::histogram(std::vector<int>{0, bin}, 4));
    } catch (const std::out_of_range& e) {
      return std::string{e.what()};
    }
    return std::string{};
  };
  EXPECT_NE(message_of(4).find("bin 4, and there are 4"), std::string::npos) << message_of(4);
  EXPECT_NE(message_of(-1).find("bin -1, and"), std::string::npos) << message_of(-1);
  EXPECT_EQ(message_of(3), "");
}

TEST(combinable, adds_up_what_each_worker_has_added) {
  test::everywhere([] {
    nopal::combinable<std::int64_t> sum;
    nopal::combinable<std::int64_t> from_ten{10};
    nopal::combinable<std::set<int>> seen{[] { return std::set<int>{-1}; }};
    EXPECT_EQ(sum.combine(std::plus<>{}), 0);
    EXPECT_EQ(from_ten.combine(std::plus<>{}), 10);
    nopal::for_each(std::views::iota(0, 100'000), [&](int i) {
      sum.local() += i;
      from_ten.local() += i;
      if (i % 1000 == 0) seen.local().insert(i);
    });
    std::int64_t objects = 0;
    from_ten.combine_each([&](std::int64_t) { ++objects; });
    EXPECT_EQ(sum.combine(std::plus<>{}), 4'999'950'000);
    EXPECT_EQ(from_ten.combine(std::plus<>{}), 4'999'950'000 + 10 * objects);
    const auto all = seen.combine([](std::set<int> a, const std::set<int>& b) {
      a.insert(b.begin(), b.end());
      return a;
    });
    EXPECT_EQ(all.size(), 101U);
    sum.clear();
    EXPECT_EQ(sum.combine(std::plus<>{}), 0);
  });
}

TEST(combinable, gives_each_thread_its_own_and_destroys_all) {
  struct counted {
    explicit counted(std::atomic<int>& count) : alive{&count} { ++*alive; }
    counted(const counted& other) : alive{other.alive} { ++*alive; }
    ~counted() { --*alive; }
    std::atomic<int>* alive;
  };
  std::atomic<int> alive{0};
  {
    nopal::combinable<counted> local{[&] { return counted{alive}; }};
    counted* const mine = &local.local();
    EXPECT_EQ(&local.local(), mine);
    std::thread other{[&] { EXPECT_NE(&local.local(), mine); }};
    other.join();
    nopal::pool pool{{.workers = 1}};
    pool.run([&] { EXPECT_NE(&local.local(), mine); });
    EXPECT_EQ(alive.load(), 3);
  }
  EXPECT_EQ(alive.load(), 0);
  nopal::combinable<test::wide> wide{test::wide{4}};
  wide.local().check();
  EXPECT_EQ(wide.local().value, 4);
}

TEST(combinable, makes_nothing_where_making_fails) {
  std::atomic<int> calls{0};
  nopal::combinable<int> local{[&]() -> int {
    if (calls++ == 0) throw test::thrown{0};
    return 8;
  }};
  EXPECT_THROW(local.local(), test::thrown);
  EXPECT_EQ(local.local(), 8);
}

}  // namespace

// Algorithms of few elements that take long, on simulated machines: no algorithm has a least number of elements below which it is serial.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "dear_elements.hpp"

namespace {

using namespace std::chrono_literals;

int sum(int a, int b) {
  work();
  return a + b;
}

TEST(dear_elements, are_reduced_in_parallel) {
  for_both(10, 15, [](std::size_t n, double goal) {
    auto const v = numbers(n);
    long one = 0, other = 0;
    EXPECT_GE(speed_up([&] { one = std::transform_reduce(v.begin(), v.end(), 0L, std::plus<>{}, projected); },
                       [&] { other = nopal::transform_reduce(v, 0L, std::plus<>{}, projected); }),
              goal);
    EXPECT_EQ(one, other);
  });
  for_both(6, 13, [](std::size_t n, double goal) {  // log n joins follow each other
    auto const v = numbers(n);
    int one = 0, other = 0;
    EXPECT_GE(speed_up([&] { one = std::accumulate(v.begin(), v.end(), 0, sum); }, [&] { other = nopal::reduce(v, 0, sum); }), goal);
    EXPECT_EQ(one, other);
  });
}

TEST(dear_elements, are_compared_in_parallel) {
  for_both(20, 28, [](std::size_t n, double goal) {  // std asks for each projection twice
    auto const v = numbers(n);
    std::size_t one = 0, other = 0;
    EXPECT_GE(speed_up([&] { one = static_cast<std::size_t>(std::ranges::max_element(v, {}, projected) - v.begin()); },
                       [&] { other = static_cast<std::size_t>(nopal::max_element(v, {}, projected) - v.begin()); }),
              goal);
    EXPECT_EQ(one, other);
    EXPECT_GE(speed_up([&] { one = static_cast<std::size_t>(std::ranges::minmax_element(v, {}, projected).max - v.begin()); },
                       [&] { other = static_cast<std::size_t>(nopal::minmax_element(v, {}, projected).max - v.begin()); }),
              goal);
    EXPECT_EQ(one, other);
  });
  for_both(6, 13, [](std::size_t n, double goal) {
    auto const v = numbers(n);
    std::size_t one = 0, other = 0;
    EXPECT_GE(speed_up([&] { one = static_cast<std::size_t>(std::ranges::min_element(v, slowly_less) - v.begin()); },
                       [&] { other = static_cast<std::size_t>(nopal::min_element(v, slowly_less) - v.begin()); }),
              goal);
    EXPECT_EQ(one, other);
  });
}

TEST(dear_elements, are_chosen_in_parallel) {
  for_both(10, 15, [](std::size_t n, double goal) {
    auto const v = numbers(n);
    std::vector<int> one(n), other(n);
    EXPECT_GE(speed_up([&] { std::ranges::copy_if(v, one.begin(), is_odd); }, [&] { nopal::copy_if(v, other.begin(), is_odd); }), goal);
    EXPECT_EQ(one, other);

    one = other = v;
    EXPECT_GE(speed_up([&] { one.erase(std::ranges::remove_if(one, is_odd).begin(), one.end()); },
                       [&] { other.erase(nopal::remove_if(other, is_odd).begin(), other.end()); }),
              goal);
    EXPECT_EQ(one, other);

    auto const same = [](int a, int b) { return projected(a) / 4 == b / 4; };
    one = other = v;
    EXPECT_GE(speed_up([&] { one.erase(std::ranges::unique(one, same).begin(), one.end()); },
                       [&] { other.erase(nopal::unique(other, same).begin(), other.end()); }),
              goal);
    EXPECT_EQ(one, other);
  });
}

TEST(dear_elements, are_partitioned_in_parallel_as_cheap_ones_are) {
  for_both(10, 15, [](std::size_t n, double goal) {
    auto const v = numbers(n);
    std::vector<int> one = v, other = v, cheap = v;
    EXPECT_GE(speed_up([&] { std::ranges::partition(one, is_odd); }, [&] { nopal::partition(other, is_odd); }), goal);
    nopal::partition(cheap, [](int x) { return x % 2 == 1; });
    EXPECT_EQ(other, cheap);
  });
}

TEST(dear_elements, are_scanned_in_parallel) {
  for_both(4, 6, [](std::size_t n, double goal) {  // twice the work, and log n sums that follow each other
    auto const v = numbers(n);
    std::vector<int> one(n), other(n);
    EXPECT_GE(
        speed_up([&] { std::inclusive_scan(v.begin(), v.end(), one.begin(), sum); }, [&] { nopal::inclusive_scan(v, other.begin(), sum); }),
        goal);
    EXPECT_EQ(one, other);
    EXPECT_GE(speed_up([&] { std::exclusive_scan(v.begin(), v.end(), one.begin(), 7, sum); },
                       [&] { nopal::exclusive_scan(v, other.begin(), 7, sum); }),
              goal);
    EXPECT_EQ(one, other);
  });
}

TEST(dear_elements, are_merged_in_parallel) {
  for_both(6, 12, [](std::size_t n, double goal) {
    auto a = numbers(n / 2), b = numbers(n / 2, 2);
    std::ranges::sort(a);
    std::ranges::sort(b);
    std::vector<int> one(n), other(n);
    EXPECT_GE(
        speed_up([&] { std::ranges::merge(a, b, one.begin(), slowly_less); }, [&] { nopal::merge(a, b, other.begin(), slowly_less); }),
        goal);
    EXPECT_EQ(one, other);
  });
}

TEST(dear_elements, are_sorted_in_parallel_as_cheap_ones_are) {
  for_both(6, 10, [](std::size_t n, double goal) {
    auto const v = numbers(n);
    std::vector<int> one = v, other = v;
    EXPECT_GE(speed_up([&] { std::ranges::sort(one, slowly_less); }, [&] { nopal::sort(other, slowly_less); }), goal);
    EXPECT_EQ(one, other);
    auto const by_thousands = [](int a, int b) { return slowly_less(a / 1000, b / 1000); };
    one = other = v;
    EXPECT_GE(speed_up([&] { std::ranges::sort(one, by_thousands); }, [&] { nopal::stable_sort(other, by_thousands); }), goal);
    EXPECT_TRUE(std::ranges::is_permutation(v, other));
    EXPECT_TRUE(std::ranges::is_sorted(other, {}, [](int x) { return x / 1000; }));
    for (int k = 0; k < 10; ++k) {  // equal elements are in their order
      auto const equals = [k](int x) { return x / 1000 == k; };
      EXPECT_TRUE(std::ranges::equal(v | std::views::filter(equals), other | std::views::filter(equals)));
    }

    one = other = v;
    given("16", "", [&] { nopal::sort(one, by_thousands); });
    nopal::sort(other, [](int a, int b) { return a / 1000 < b / 1000; });
    EXPECT_EQ(one, other) << "equal elements end up as time will have it";
  });
  for_both(4, 9, [](std::size_t n, double goal) {
    auto const v = numbers(n);
    std::vector<int> one = v, other = v, cheap = v;
    auto const nth = static_cast<std::ptrdiff_t>(n / 2);
    EXPECT_GE(speed_up([&] { std::ranges::nth_element(one, one.begin() + nth, slowly_less); },
                       [&] { nopal::nth_element(other, other.begin() + nth, slowly_less); }),
              goal);
    nopal::nth_element(cheap, cheap.begin() + nth, [](int a, int b) { return a < b; });
    EXPECT_EQ(other, cheap);
  });
}

// Of few elements all pairs are compared at once, as many as there are workers in a round. None of nine calls in a row measures in vain.
TEST(dear_elements, of_which_there_are_few_are_compared_in_pairs_at_once) {
  auto const rounds = [](std::string const& on, auto call) {
    std::vector<int> const v{3, 1, 4, 2, 8, 6, 7, 5, 9, 16, 11, 14, 10, 13, 12, 15};
    std::chrono::duration<double, std::milli> most{0};
    for (int times = 0; times < 10; ++times) {
      auto w = v;
      auto const r = given(on, "", [&] {
        nopal::simulate_work(1ms);  // meanwhile all workers begin to search
        call(w);
      });
      if (times > 0) most = std::max<std::chrono::duration<double, std::milli>>(most, r.elapsed);  // the first one measures
    }
    return most.count() - 1;
  };
  auto const first = [](std::vector<int>& v, std::size_t n) { return std::span{v}.first(n); };
  constexpr double little = 0.1;
  EXPECT_LT(rounds("2", [&](auto& v) { nopal::sort(first(v, 3), slowly_less); }), 2 + little);
  EXPECT_LT(rounds("2", [&](auto& v) { nopal::sort(first(v, 4), slowly_less); }), 3 + little);
  EXPECT_LT(rounds("2", [&](auto& v) { nopal::stable_sort(first(v, 4), slowly_less); }), 3 + little);
  EXPECT_LT(rounds("2", [&](auto& v) { nopal::stable_sort(first(v, 6), slowly_less); }), 8 + little);
  EXPECT_LT(rounds("16", [&](auto& v) { nopal::sort(first(v, 8), slowly_less); }), 2 + little);
  EXPECT_LT(rounds("16", [&](auto& v) { nopal::stable_sort(v, slowly_less); }), 9 + little);
  EXPECT_LT(rounds("2", [&](auto& v) { nopal::nth_element(v.begin(), v.begin() + 2, v.begin() + 4, slowly_less); }), 3 + little);
  EXPECT_LT(rounds("2", [&](auto& v) { nopal::partial_sort(v.begin(), v.begin() + 1, v.begin() + 4, slowly_less); }), 2 + little);
  EXPECT_LT(rounds("2", [&](auto& v) { nopal::partial_sort(v.begin(), v.begin() + 2, v.begin() + 4, slowly_less); }), 3 + little);
  std::vector<int> out(16);
  auto const halves = [](std::vector<int>& v, std::size_t n) {
    v = {1, 3, 5, 7, 2, 4, 6, 8};
    return std::span{v}.subspan(4 - n / 2, n);
  };
  EXPECT_LT(rounds("2",
                   [&](auto& v) {
                     auto const some = halves(v, 4);
                     nopal::inplace_merge(some, some.begin() + 2, slowly_less);
                   }),
            2 + little);
  EXPECT_LT(rounds("2",
                   [&](auto& v) {
                     auto const some = halves(v, 4);
                     nopal::merge(some.first(2), some.last(2), out.begin(), slowly_less);
                   }),
            2 + little);
  EXPECT_LT(rounds("16",
                   [&](auto& v) {
                     auto const some = halves(v, 8);
                     nopal::merge(some.first(4), some.last(4), out.begin(), slowly_less);
                   }),
            2 + little);
  EXPECT_LT(rounds("2", [&](auto& v) { nopal::partition(first(v, 4), is_odd); }), 2 + little);
  EXPECT_LT(rounds("2", [&](auto& v) { nopal::adjacent_difference(first(v, 4), out.begin(), sum); }), 2 + little);
}

TEST(dear_elements, come_to_the_same_bits_on_any_machine) {
  std::vector<double> v(1000);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 1.0 / static_cast<double>(i * i + 1) - 0.3;
  auto const results = [&](std::string const& on, std::chrono::nanoseconds each, long most) {
    std::vector<std::uint64_t> bits;
    given(on, "", [&] {
      auto const square = [&](double x) {
        nopal::simulate_work(each);
        return x * x;
      };
      auto const add = [&](double a, double b) {
        nopal::simulate_work(each);
        return a + b;
      };
      for (long const n : {20, 64, 300, 1000}) {
        if (n > most) break;
        std::vector<double> const some{v.begin(), v.begin() + n};
        std::vector<double> out(some.size());
        bits.push_back(std::bit_cast<std::uint64_t>(nopal::transform_reduce(some, 0.5, std::plus<>{}, square)));
        bits.push_back(std::bit_cast<std::uint64_t>(nopal::reduce(some, 0.5, add)));
        nopal::inclusive_scan(some, out.begin(), add);
        for (double x : out) bits.push_back(std::bit_cast<std::uint64_t>(x));
        nopal::exclusive_scan(some, out.begin(), 0.25, add);
        for (double x : out) bits.push_back(std::bit_cast<std::uint64_t>(x));
      }
    });
    return bits;
  };
  for (auto const& [on, most] : same_bits_on) EXPECT_EQ(results(on, 1ms, most), results("1", 0ms, most)) << on;
}

TEST(dear_elements, throw_what_serial_execution_would_have_thrown_first) {
  auto const v = numbers(300);
  auto const fails = [&](auto call) {
    given("16", "", [&] {
      try {
        call([&](int const& x) {
          nopal::simulate_work(&x == &v[41] ? 9ms : 1ms);
          if (std::size_t const i = static_cast<std::size_t>(&x - v.data()); i >= 41 && i % 2 == 1) throw i;
          return x;
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (std::size_t first) {
        EXPECT_EQ(first, 41U);
      }
    });
  };
  std::vector<int> out(v.size());
  fails([&](auto f) { nopal::transform_reduce(v, 0.0, std::plus<>{}, f); });
  fails([&](auto f) {
    nopal::transform_reduce(v.begin(), v.end(), std::string{}, std::plus<>{}, [&](int const& x) { return std::to_string(f(x)); });
  });
  fails([&](auto f) { nopal::max_element(v, {}, f); });
  fails([&](auto f) { nopal::copy_if(v, out.begin(), [&](int const& x) { return f(x) > 5; }); });
}

}  // namespace

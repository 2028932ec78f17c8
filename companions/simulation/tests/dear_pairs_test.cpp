// As dear_elements_test.cpp, for comparisons of ranges and sums of blocks.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;

std::atomic<int> done{0};

// Takes a millisecond.
void work() {
  done.fetch_add(1);
  nopal::simulate_work(1ms);
}
int projected(int x) {
  work();
  return x;
}
bool same(int a, int b) { return projected(a) == b; }
bool slowly_less(int a, int b) { return projected(a) < b; }

// Our result is that of the standard library, and on 16 workers our time is the goal's part of its time, or less.
template <class Theirs, class Ours>
void speeds_up(double goal, Theirs theirs, Ours ours) {
  done = 0;
  auto const one = theirs();
  int const serial = done;
  auto other = one;
  auto const r = given("16", "", [&] { other = ours(); });
  EXPECT_EQ(one, other);
  std::chrono::duration<double, std::milli> const took = r.elapsed;
  EXPECT_GE(serial / took.count(), goal);
}

// Calls check(v, goal) with 0, 1, ...: goals for 64 elements and for 1024.
template <class Check>
void for_both(double few, double many, Check check) {
  for (std::size_t const n : {64U, 1024U}) {
    SCOPED_TRACE(n);
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 0);
    check(v, n == 64 ? few : many);
  }
}

TEST(dear_pairs, are_compared_in_parallel) {
  for_both(10, 15, [](std::vector<int> const& v, double goal) {
    speeds_up(goal, [&] { return std::ranges::equal(v, v, same); }, [&] { return nopal::equal(v, v, same); });
    auto const place = [&](auto const& ends) { return ends.in1 - v.begin(); };
    speeds_up(goal, [&] { return place(std::ranges::mismatch(v, v, same)); }, [&] { return place(nopal::mismatch(v, v, same)); });
    speeds_up(
        goal, [&] { return std::ranges::lexicographical_compare(v, v, slowly_less); },
        [&] { return nopal::lexicographical_compare(v, v, slowly_less); });
    speeds_up(goal, [&] { return std::ranges::is_sorted(v, slowly_less); }, [&] { return nopal::is_sorted(v, slowly_less); });
    speeds_up(
        goal, [&] { return std::ranges::is_sorted_until(v, slowly_less) - v.begin(); },
        [&] { return nopal::is_sorted_until(v, slowly_less) - v.begin(); });
    speeds_up(
        goal, [&] { return std::ranges::adjacent_find(v, same) - v.begin(); }, [&] { return nopal::adjacent_find(v, same) - v.begin(); });
    auto const all = [](int x) { return projected(x) >= 0; };
    speeds_up(goal, [&] { return std::ranges::find_if_not(v, all) - v.begin(); }, [&] { return nopal::find_if_not(v, all) - v.begin(); });
    speeds_up(goal, [&] { return std::ranges::is_partitioned(v, all); }, [&] { return nopal::is_partitioned(v, all); });
  });
  for_both(8, 14, [](std::vector<int> const& v, double goal) {
    auto const half = [n = v.size()](int x) { return projected(x) < static_cast<int>(n) / 2; };
    speeds_up(goal, [&] { return std::ranges::is_partitioned(v, half); }, [&] { return nopal::is_partitioned(v, half); });
  });
}

TEST(dear_pairs, are_looked_for_in_parallel) {
  for_both(9, 15, [](std::vector<int> const& v, double goal) {
    auto const begin = [&](auto const& found) { return found.begin() - v.begin(); };
    std::vector<int> const last{v.end() - 2, v.end()}, first{0, 1}, others{-1, -2, -3};
    speeds_up(goal, [&] { return begin(std::ranges::search(v, last, same)); }, [&] { return begin(nopal::search(v, last, same)); });
    speeds_up(goal, [&] { return begin(std::ranges::search(v, v, same)); }, [&] { return begin(nopal::search(v, v, same)); });
    speeds_up(goal, [&] { return begin(std::ranges::find_end(v, first, same)); }, [&] { return begin(nopal::find_end(v, first, same)); });
    speeds_up(
        goal, [&] { return std::ranges::find_first_of(v, others, same) - v.begin(); },
        [&] { return nopal::find_first_of(v, others, same) - v.begin(); });
    speeds_up(
        goal, [&] { return std::ranges::find_first_of(others, v, same) - others.begin(); },
        [&] { return nopal::find_first_of(others, v, same) - others.begin(); });
  });
  for_both(6, 12, [](std::vector<int> const& v, double goal) {
    speeds_up(goal, [&] { return std::ranges::includes(v, v, slowly_less); }, [&] { return nopal::includes(v, v, slowly_less); });
  });
}

TEST(dear_pairs, are_chosen_in_parallel) {
  for_both(6, 13, [](std::vector<int> const& v, double goal) {
    speeds_up(goal, [&] { return std::ranges::min(v, slowly_less); }, [&] { return nopal::min(v, slowly_less); });
    speeds_up(goal, [&] { return std::ranges::max(v, {}, projected); }, [&] { return nopal::max(v, {}, projected); });
    speeds_up(goal, [&] { return std::ranges::minmax(v, {}, projected).max; }, [&] { return nopal::minmax(v, {}, projected).max; });
  });
}

TEST(dear_pairs, are_summed_up_in_parallel) {
  for_both(10, 14, [](std::vector<int> const& v, double goal) {
    auto const minus = [](int a, int b) { return projected(a) - b; };
    auto const numbers = [&](auto f) {
      std::vector<int> out(v.size());
      f(out.begin());
      return out;
    };
    speeds_up(
        goal, [&] { return numbers([&](auto out) { std::adjacent_difference(v.begin(), v.end(), out, minus); }); },
        [&] { return numbers([&](auto out) { nopal::adjacent_difference(v, out, minus); }); });
    auto const sum = [](auto from, auto to, int so_far) {
      for (; from != to; ++from) so_far += projected(*from);
      return so_far;
    };
    speeds_up(goal, [&] { return sum(v.begin(), v.end(), 0); }, [&] { return nopal::reduce_blocks(v, 0, sum, std::plus<>{}); });
  });
  for_both(4, 6, [](std::vector<int> const& v, double goal) {  // twice the work
    auto const numbers = [&](auto f) {
      std::vector<int> out(v.size());
      f(out.begin());
      return out;
    };
    speeds_up(
        goal, [&] { return numbers([&](auto out) { std::transform_inclusive_scan(v.begin(), v.end(), out, std::plus<>{}, projected); }); },
        [&] { return numbers([&](auto out) { nopal::transform_inclusive_scan(v, out, std::plus<>{}, projected); }); });
    speeds_up(
        goal,
        [&] { return numbers([&](auto out) { std::transform_exclusive_scan(v.begin(), v.end(), out, 7, std::plus<>{}, projected); }); },
        [&] { return numbers([&](auto out) { nopal::transform_exclusive_scan(v, out, 7, std::plus<>{}, projected); }); });
  });
}

TEST(dear_pairs, come_to_the_same_bits_on_any_machine) {
  auto const results = [](std::string const& on, std::chrono::nanoseconds each, long most) {
    std::vector<std::uint64_t> bits;
    given(on, "", [&] {
      for (int const n : {20, 64, 300, 1000}) {
        if (n > most) break;
        auto const term = [each](int i) {
          nopal::simulate_work(each);
          return 1.0 / (i * i + 1) - 0.3;
        };
        auto const sum = [&](int from, int to, double so_far) {
          for (; from < to; ++from) so_far += term(from);
          return so_far;
        };
        bits.push_back(std::bit_cast<std::uint64_t>(nopal::reduce_blocks(0, n, 0.0, sum, std::plus<>{})));
        std::vector<double> out(static_cast<std::size_t>(n));
        nopal::transform_inclusive_scan(std::views::iota(0, n), out.begin(), std::plus<>{}, term);
        for (double const x : out) bits.push_back(std::bit_cast<std::uint64_t>(x));
      }
    });
    return bits;
  };
  for (auto const& [on, most] : same_bits_on) EXPECT_EQ(results(on, 1ms, most), results("1", 0ms, most)) << on;
}

}  // namespace

// Loops on a thread outside use the costs of earlier loops with the same type of body, and detect if these are wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/pool.hpp"

namespace {

TEST(loop_costs, are_known_of_loops_below_their_grain) {
  for (std::size_t const n : {1U, 5U, 16U, 17U, 100U, 8192U}) {
    for (std::uint64_t const grain : {1U, 2U, 16U, 1000U, 1000000U}) {
      std::vector<int> ran(n);
      for (int times = 1; times < 5; ++times) {
        nopal::parallel_for(std::size_t{0}, n, [&](std::size_t i) { ++ran.at(i); }, nopal::grain{grain});
        EXPECT_EQ(std::ranges::count(ran, times), static_cast<std::ptrdiff_t>(n)) << n << " " << grain;
      }
      nopal::parallel_for_blocks(
          std::size_t{0}, n,
          [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) ++ran.at(i);
          },
          nopal::grain{grain});
      EXPECT_EQ(std::ranges::count(ran, 5), static_cast<std::ptrdiff_t>(n)) << n << " " << grain;
    }
  }
}

/// On a pool where somebody might take part, under no controlled schedule.
template <class F>
void where_loops_are_shared_by_cost(F const& f) {
  nopal::pool pool{{.workers = 2}};
  pool.run([&] {
    if (!nopal::core::shares_by_schedule()) f();
  });
}
void spend(double microseconds) {
  auto const began = nopal::core::loop_ticks();
  while (static_cast<double>(nopal::core::loop_ticks() - began) < microseconds * nopal::core::ticks_per_microsecond()) {
  }
}

// An interrupt in the one call that was timed made all later sorts of the type slow.
TEST(loop_costs, that_seem_dear_once_are_asked_for_again) {
  struct site {};
  where_loops_are_shared_by_cost([] {
    EXPECT_TRUE(nopal::core::algorithms::turns_out_slow<site>(1000, [] { spend(100); }));
    int slow = 0;
    for (int k = 0; k < 40; ++k) slow += nopal::core::algorithms::turns_out_slow<site>(1000, [] {}) ? 1 : 0;
    EXPECT_LT(slow, 33);
  });
}

TEST(loop_costs, of_cold_memory_do_not_count) {
  struct site {};
  where_loops_are_shared_by_cost([] {
    bool slow = true;
    for (int k = 0; k < 20 && slow; ++k) {  // the system may have other plans for some of these moments
      int calls = 0;
      slow = nopal::core::algorithms::turns_out_slow<site>(1000, [&] {
        if (calls++ == 0) spend(1);
      });
      nopal::core::cost_of<site>.learn(0);
    }
    EXPECT_FALSE(slow);
  });
}

TEST(loop_costs, are_nothing_of_a_loop_without_iterations) {
  auto const loop = [](std::size_t n, std::atomic<int>& blocks) {
    nopal::parallel_for_blocks(std::size_t{0}, n, [&blocks](std::size_t from, std::size_t to) {
      EXPECT_LT(from, to);
      ++blocks;
    });
  };
  std::atomic<int> blocks = 0;
  for (int k = 0; k < 5; ++k) loop(100, blocks);
  std::atomic<int> none = 0;
  loop(0, none);
  EXPECT_EQ(none, 0);
  EXPECT_GE(blocks, 5);
}

TEST(loop_costs, are_not_those_of_the_last_loop) {
  auto const loop = [](std::size_t n, int spins, std::vector<std::atomic<int>>& ran, std::size_t throws_at) {
    nopal::parallel_for(std::size_t{0}, n, [&ran, spins, throws_at](std::size_t i) {
      if (i == throws_at) throw i;
      for (int k = 0; k < spins; ++k) nopal::core::cpu_relax();
      ran[i].fetch_add(1);
    });
  };
  constexpr std::size_t nowhere = ~std::size_t{0};
  for (std::size_t const n : {1U, 2U, 7U, 64U, 100U, 1000U, 8192U, 8193U}) {
    std::vector<std::atomic<int>> ran(n);
    int times = 0;
    for (int const spins : {0, 0, 0, 2000, 0, 0, 2000}) {
      loop(n, spins * 100 / static_cast<int>(100 + n), ran, nowhere);
      ++times;
      EXPECT_TRUE(std::ranges::all_of(ran, [&](auto const& x) { return x == times; })) << n << " " << spins;
    }
    for (std::size_t const at : {std::size_t{0}, n / 8, n / 2, n - 1}) {
      for (int const spins : {0, 0, 200}) {
        std::ranges::for_each(ran, [](auto& x) { x = 0; });
        try {
          loop(n, spins, ran, at);
          ADD_FAILURE() << n << " " << at;
        } catch (std::size_t thrown) {
          EXPECT_EQ(thrown, at);
        }
        EXPECT_TRUE(std::all_of(ran.begin(), ran.begin() + static_cast<std::ptrdiff_t>(at), [](auto const& x) { return x == 1; }))
            << n << " " << at;
      }
    }
  }
}

// Loops that run without polls, by numbers: a limit in ticks, a hint that is far below it, and blocks that take as long as the test says.
class unasked_loops : public testing::Test {
 protected:
  static constexpr std::uint64_t count = 100;
  static constexpr float hint = 1.0F / 128;  // of a tick for each iteration

  unasked_loops() { cost_.learn(1, 128); }
  ~unasked_loops() override { limit_ = 0; }

  // Runs a loop in which the block that begins at `slow` takes longer than the limit. Returns the number of iterations that ran.
  std::uint64_t run(std::uint64_t limit, std::uint64_t slow) {
    limit_ = limit;
    auto blocks = [&](std::uint64_t from, std::uint64_t to) {
      EXPECT_EQ(from, ran_);
      ran_ = to;
      for (std::uint64_t const began = nopal::core::clock_ticks(); from == slow && nopal::core::clock_ticks() - began <= limit;) {
      }
    };
    ran_ = 0;
    std::uint64_t const n = nopal::core::run_unasked(blocks, count, 1, cost_);
    EXPECT_EQ(n, ran_);
    return n;
  }

  static constexpr std::uint64_t first = count / nopal::core::loop_tuning::first_part;
  static constexpr std::uint64_t never = count;
  nopal::core::iteration_cost cost_;

 private:
  std::atomic<std::uint64_t>& limit_ = nopal::core::state_here()->alone;
  std::uint64_t ran_ = 0;
};

TEST_F(unasked_loops, that_are_short_learn_nothing) {
  EXPECT_EQ(run(std::uint64_t{1} << 40, never), count);
  EXPECT_EQ(cost_.ticks(), hint);
}

TEST_F(unasked_loops, that_cannot_be_shorter_than_anybody_would_come_for_do_not_run) {
  EXPECT_EQ(run(0, never), 0U);
  cost_.learn(5.0);
  EXPECT_EQ(run(5 * count, never), 0U);
}

TEST_F(unasked_loops, end_behind_a_first_part_that_is_long) {
  EXPECT_EQ(run(100, 0), first);
  EXPECT_GT(cost_.ticks(), hint);
}

TEST_F(unasked_loops, that_are_long_behind_their_first_part_ask_the_next_time) {
  std::uint64_t const limit = std::uint64_t{1} << 25;
  std::uint64_t n = first;
  for (int tries = 0; tries < 20 && n == first; ++tries) {  // again where this thread did not run for so long
    cost_.learn(0.0);
    cost_.learn(1, 128);
    n = run(limit, first);
  }
  EXPECT_EQ(n, count);
  EXPECT_GE(cost_.ticks(), static_cast<float>(limit / count / 2));
  EXPECT_EQ(run(limit, never), 0U);
}

}  // namespace

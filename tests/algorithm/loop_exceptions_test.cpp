// A loop throws the exception that serial execution would have thrown first. What is before it has run, and no later iteration begins.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../on_pools.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/pool.hpp"

namespace {

// Runs n iterations; those that `throws` accepts throw their number. Expects the first of these, and that all before it have run.
template <class Throws>
void expect_first(int n, Throws throws) {
  std::vector<std::atomic<int>> ran(static_cast<std::size_t>(n));
  int first = 0;
  while (first < n && !throws(first)) ++first;
  int thrown = n;
  try {
    nopal::parallel_for(0, n, [&](int i) {
      ++ran[static_cast<std::size_t>(i)];
      if (throws(i)) throw i;
    });
  } catch (int i) {
    thrown = i;
  }
  EXPECT_EQ(thrown, first);
  for (int i = 0; i < n; ++i) {
    int const times = ran[static_cast<std::size_t>(i)];
    if (i <= first) {
      ASSERT_EQ(times, 1) << i;
    } else {
      ASSERT_LE(times, 1) << i;
    }
  }
}

void expect_first_at_every_place() {
  for (int const n : {1, 2, 3, 7, 20}) {
    for (int at = 0; at <= n; ++at) expect_first(n, [=](int i) { return i == at; });
    for (int at = 0; at < n; ++at) expect_first(n, [=](int i) { return i >= at; });
  }
  expect_first(1000, [](int i) { return i % 100 == 99; });
  expect_first(1000, [](int i) { return i == 999 || i == 500; });
  expect_first(100'000, [](int i) { return i == 70'000 || i == 40'000; });
}

TEST(loop_exceptions, are_those_of_serial_execution) {
  expect_first_at_every_place();
  test::on_some_pools([](nopal::pool& pool) { pool.run(expect_first_at_every_place); });
}

TEST(loop_exceptions, are_those_of_serial_execution_whatever_is_stolen) {
  for (auto const s : {nopal::schedule::steal_always, nopal::schedule::steal_never}) {
    nopal::pool pool{{.workers = 3, .schedule = s}};
    pool.run(expect_first_at_every_place);
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    nopal::pool pool{{.workers = 4, .seed = seed, .schedule = nopal::schedule::steal_at_random}};
    pool.run([] {
      for (int at = 0; at < 50; at += 7) expect_first(50, [=](int i) { return i >= at && i % 3 == at % 3; });
    });
  }
}

TEST(loop_exceptions, go_through_loops_around) {
  nopal::pool pool{{.workers = 3}};
  pool.run([] {
    for (int at = 0; at < 10; ++at) {
      try {
        nopal::parallel_for(0, 10, [&](int a) {
          nopal::parallel_for(0, 100, [&](int b) {
            if (a >= at && b >= 50) throw std::pair{a, b};
          });
        });
        ADD_FAILURE();
      } catch (std::pair<int, int> const& thrown) {
        EXPECT_EQ(thrown, std::pair(at, 50));
      }
      try {
        nopal::parallel_for(0, 10, 0, 100, [&](int a, int b) {
          if (a >= at && b >= 50) throw std::pair{a, b};
        });
        ADD_FAILURE();
      } catch (std::pair<int, int> const& thrown) {
        EXPECT_EQ(thrown, std::pair(at, 50));
      }
    }
  });
}

// The later half is stolen and far from its end when the earlier one throws. If nothing stopped it, it would run for years.
TEST(loop_exceptions, end_what_comes_later) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    std::atomic<bool> stolen{false};
    EXPECT_THROW(nopal::parallel_for(0l, 1'000'000'000'000'000l,
                                     [&](long i) {
                                       if (i >= 400'000'000'000'000) stolen.store(true, std::memory_order_relaxed);
                                       if (i < 400'000'000'000'000 && stolen.load(std::memory_order_relaxed))
                                         throw std::runtime_error{"earlier"};
                                     }),
                 std::runtime_error);
  });
}

// An earlier part runs to its end though a later one has thrown already, since the earlier may throw too.
TEST(loop_exceptions, end_nothing_that_comes_earlier) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always}};
  bool first_has_waited = false;
  for (int round = 0; round < 20; ++round) {
    pool.run([&] {
      std::atomic<bool> thrown{false};
      std::atomic<int> ran{0};
      try {
        nopal::parallel_for(0, 64, [&](int i) {
          if (i == 63) {
            thrown = true;
            throw 63;
          }
          for (int k = 0; i == 0 && !thrown && k < 10'000; ++k) std::this_thread::yield();
          if (i == 0) first_has_waited = thrown;
          ++ran;
        });
        ADD_FAILURE();
      } catch (int i) {
        EXPECT_EQ(i, 63);
      }
      EXPECT_EQ(ran, 63);
    });
  }
  EXPECT_TRUE(first_has_waited) << "so nothing was tested";
}

TEST(loop_exceptions, leave_bodies_off_a_pool) {
  EXPECT_THROW(nopal::parallel_for(0, 10,
                                   [](int i) {
                                     if (i == 3) throw std::runtime_error{"x"};
                                   }),
               std::runtime_error);
  std::atomic<long> sum{0};
  EXPECT_THROW(nopal::parallel_for(0, 100'000'000,
                                   [&](int i) {
                                     sum.fetch_add(1, std::memory_order_relaxed);
                                     if (i == 5'000'000) throw std::runtime_error{"late"};
                                   }),
               std::runtime_error);
  EXPECT_GE(sum.load(), 5'000'000);
}

}  // namespace

// Yields of fibers for which nothing waits but each other: they change places, without a search between.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>

#include "../scale.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/floating_point.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::counter;

class yields : public testing::TestWithParam<unsigned> {
 protected:
  nopal::pool pool{{.workers = GetParam()}};
  counter all;
  std::atomic<bool> over{false};

  void begin_yielders(int n) {
    for (int k = 0; k < n; ++k) {
      pool.spawn(all, [this] {
        while (!over) nopal::yield();
      });
    }
  }
  void end_yielders() {
    over = true;
    nopal::wait_for(all);
  }
};

TEST_P(yields, let_in_what_comes_from_outside) {
  begin_yielders(2);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(pool.submit([k] { return k; }).get(), k);
  end_yielders();
}

TEST_P(yields, let_time_limits_end_and_fibers_begin) {
  begin_yielders(2);
  counter some;
  for (int k = 0; k < 10; ++k) {
    pool.spawn(some, [&some] {
      nopal::sleep_for(1ms);
      nopal::spawn(some, [] { nopal::sleep_for(1ms); });
    });
  }
  nopal::wait_for(some);
  end_yielders();
}

TEST_P(yields, let_in_what_is_for_one_worker) {
  begin_yielders(2);
  for (unsigned k = 0; k < 20; ++k) {
    pool.run([&]() -> nopal::task<> { co_await nopal::resume_on(pool.worker(k % pool.workers())); });
  }
  end_yielders();
}

TEST_P(yields, end_where_they_are_asked_to_stop) {
  begin_yielders(1);
  std::stop_source source;
  auto asked = pool.submit(source.get_token(), [] {
    while (!nopal::stop_requested()) nopal::yield();
  });
  source.request_stop();
  asked.get();
  end_yielders();
}

struct yields_while_it_unwinds {
  std::atomic<int>& wrong;
  ~yields_while_it_unwinds() {
    for (int k = 0; k < 10; ++k) {
      nopal::yield();
      wrong += std::uncaught_exceptions() != 1;
    }
  }
};

TEST_P(yields, keep_what_each_handles_and_throws) {
  std::atomic<int> wrong{0};
  for (int f = 0; f < 3; ++f) {
    pool.spawn(all, [&wrong, f] {
      for (int k = 0; k < 50; ++k) {
        try {
          yields_while_it_unwinds const here{wrong};
          throw 1000 * f + k;
        } catch (int) {
          for (int i = 0; i < 10; ++i) nopal::yield();
          try {
            throw;
          } catch (int e) {
            wrong += e != 1000 * f + k;
          }
        }
        wrong += std::uncaught_exceptions() != 0 || std::current_exception() != nullptr;
        nopal::yield();
      }
    });
  }
  nopal::wait_for(all);
  EXPECT_EQ(wrong, 0);
}

TEST_P(yields, keep_the_mode_of_each) {
  std::atomic<int> wrong{0};
  for (int const mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD}) {
    pool.spawn(all, [&wrong, mode] {
      std::fesetround(mode);
      for (int k = 0; k < 200; ++k) {
        nopal::yield();
        wrong += std::fegetround() != mode;
      }
      std::fesetround(FE_TONEAREST);
    });
  }
  nopal::wait_for(all);
  EXPECT_EQ(wrong, 0);
}

TEST_P(yields, may_fork_between) {
  std::atomic<long> sum{0};
  for (int f = 0; f < 3; ++f) {
    pool.spawn(all, [&sum] {
      for (int k = 0; k < 100; ++k) {
        nopal::parallel_invoke([&] { sum += 1; },
                               [&] {
                                 nopal::yield();
                                 sum += 1;
                               });
        nopal::yield();
      }
    });
  }
  nopal::wait_for(all);
  EXPECT_EQ(sum, 600);
}

INSTANTIATE_TEST_SUITE_P(workers, yields, testing::Values(1U, 2U, 3U));

// As many turns for each at any time, but for a few: now and then the oldest in the ring, or the inbox, has a turn of its own.
TEST(yield_turns, go_round) {
  for (std::size_t const fibers : {2U, 3U, 5U}) {
    nopal::pool pool{{.workers = 1}};
    std::string turns;
    pool.submit([&] {
          counter left;
          for (std::size_t f = 0; f < fibers; ++f) {
            nopal::spawn(left, [&turns, f] {
              for (int k = 0; k < 200; ++k) {
                turns += static_cast<char>('a' + f);
                nopal::yield();
              }
            });
          }
          nopal::wait_for(left);
        })
        .get();
    ASSERT_EQ(turns.size(), 200 * fibers);
    std::array<int, 5> had{};
    for (std::size_t k = 0; k < turns.size(); ++k) {
      ++had[static_cast<std::size_t>(turns[k] - 'a')];
      auto const [least, most] = std::minmax_element(had.begin(), had.begin() + static_cast<std::ptrdiff_t>(fibers));
      ASSERT_LE(*most - *least, 8) << k << " of " << turns;
    }
  }
}

// A stack is left below forks whose continuations no thief has requested: its worker offers them itself, and does not take them from itself by
// force, which it could do only after it had waited for its own answer.
TEST(yield, below_forks_takes_nothing_by_force) {
  nopal::pool one{{.workers = 1}};
  int yielded = 0;
  auto const descend = [&](auto const& self, int depth) -> void {
    if (depth > 0) return nopal::parallel_invoke([&] { self(self, depth - 1); }, [&] { self(self, depth - 1); });
    nopal::yield();
    ++yielded;
  };
  std::uint64_t const forces = one.run([&] {
    descend(descend, 6);
    return nopal::core::current()->work.forces();
  });
  EXPECT_EQ(yielded, 64);
  EXPECT_EQ(forces, 0U);
}

}  // namespace

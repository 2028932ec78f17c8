// oneTBB above and below nopal: its frames are between nopal's on one native stack, and what it keeps for each thread must be found again
// after nopal's joins.

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cfenv>
#include <functional>
#include <thread>

#include <nopal/floating_point.hpp>

#include "at_home.hpp"

namespace {

constexpr long n = 32;  // of one sum

class tbb_at_home : public test::at_home {
 protected:
  /// The sum of 0 .. n - 1, in the body of an algorithm of oneTBB.
  long in_a_body(long which) {
    long value = 0;
    staying_here([&] { value = test::sum(0, n, which); });
    return value;
  }
  /// oneTBB and nopal in turn, while a worker of the pool is here: a thread of oneTBB sums up once, for all.
  long nested(long depth, long which) {
    if (depth == 0) return in_a_body(which);
    if (nopal::pool::current() != &pool()) return 3 * nested(depth - 1, which);
    std::atomic<long> total{0};
    if (depth % 2 == 0) {
      tbb::parallel_for(0L, 3L, [&](long k) { total += nested(depth - 1, which + k); });
    } else {
      staying_here([&] {
        nopal::parallel_invoke([&] { total += nested(depth - 1, which); }, [&] { total += nested(depth - 1, which + 1); },
                               [&] { total += nested(depth - 1, which + 2); });
      });
    }
    return total;
  }
};

INSTANTIATE_TEST_SUITE_P(each, tbb_at_home, test::everyone(), test::name_of);

TEST_P(tbb_at_home, parallel_for_forks) {
  everywhere([&](long k) {
    std::atomic<long> total{0};
    tbb::parallel_for(0L, 6L, [&](long i) { total += in_a_body(k + i); });
    EXPECT_EQ(total, 6 * test::sum_to(n));
  });
}

TEST_P(tbb_at_home, parallel_reduce_forks) {
  everywhere([&](long k) {
    long const total = tbb::parallel_reduce(
        tbb::blocked_range<long>{0, 6}, 0L,
        [&](tbb::blocked_range<long> const& part, long so_far) {
          for (long i = part.begin(); i != part.end(); ++i) so_far += in_a_body(k + i);
          return so_far;
        },
        std::plus<>{});
    EXPECT_EQ(total, 6 * test::sum_to(n));
  });
}

TEST_P(tbb_at_home, task_groups_fork) {
  everywhere([&](long k) {
    std::atomic<long> total{0};
    tbb::task_group group;
    for (long i = 0; i < 5; ++i) group.run([&, i] { total += in_a_body(k + i); });
    total += in_a_body(k);
    group.wait();
    EXPECT_EQ(total, 6 * test::sum_to(n));
  });
}

TEST_P(tbb_at_home, flow_graphs_fork) {
  everywhere([&](long k) {
    std::atomic<long> total{0};
    tbb::flow::graph graph;
    tbb::flow::function_node<long, long> first{graph, tbb::flow::unlimited, [&](long i) { return in_a_body(k + i); }};
    tbb::flow::function_node<long> second{graph, tbb::flow::serial, [&](long value) { total += value; }};
    tbb::flow::make_edge(first, second);
    for (long i = 0; i < 4; ++i) first.try_put(i);
    graph.wait_for_all();
    EXPECT_EQ(total, 4 * test::sum_to(n));
  });
}

TEST_P(tbb_at_home, goes_on_with_nopal_and_back_and_again) {
  everywhere([&](long k) {
    if (k % test::rounds >= test::rounds / 4) return;
    EXPECT_EQ(nested(4, k), 81 * test::sum_to(n));
  });
}

TEST_P(tbb_at_home, what_a_thread_has_of_its_own_is_found_again) {
  tbb::enumerable_thread_specific<long> calls{0};
  std::atomic<long> all{0};
  everywhere([&](long k) {
    tbb::parallel_for(0L, 4L, [&](long i) {
      staying_here([&] {
        long& mine = calls.local();
        long const before = ++mine;
        EXPECT_EQ(test::sum(0, n, k + i), test::sum_to(n));
        EXPECT_EQ(&calls.local(), &mine);
        EXPECT_GE(mine, before);
      });
      ++all;
    });
  });
  EXPECT_EQ(calls.combine(std::plus<>{}), all);
}

/// How often the calling thread is inside an isolated region.
int& isolated() {
  thread_local int depth = 0;
  return depth;
}

TEST_P(tbb_at_home, an_isolated_region_meets_nothing_from_outside) {
  everywhere([&](long k) {
    std::atomic<int> strangers{0};
    std::atomic<long> total{0};
    tbb::parallel_for(0L, 4L, [&](long i) {
      if (isolated() != 0) ++strangers;
      tbb::this_task_arena::isolate([&] {
        int& depth = isolated();
        ++depth;
        tbb::parallel_for(0L, 3L, [&](long j) { total += in_a_body(k + i + j); });
        --depth;
      });
    });
    EXPECT_EQ(strangers, 0);
    EXPECT_EQ(total, 12 * test::sum_to(n));
  });
}

TEST_P(tbb_at_home, below_a_lock_of_the_callers_thread) {
  everywhere([&](long k) {
    std::atomic<long> total{0};
    tbb::parallel_for(0L, 4L, [&](long i) {
      std::mutex mutex;
      staying_here([&] {
        std::lock_guard const guard{mutex};
        total += test::sum(0, n, k + i);
      });
    });
    EXPECT_EQ(total, 4 * test::sum_to(n));
  });
}

// oneTBB is the program's own runtime, and nopal one of the libraries that it calls.
class tbb_below : public test::at_home {};

INSTANTIATE_TEST_SUITE_P(each, tbb_below,
                         testing::Combine(testing::Values(test::staying::home_pool, test::staying::guard),
                                          testing::Values(test::caller::outside)),
                         test::name_of);

TEST_P(tbb_below, oneTBB_calls_nopal_which_calls_oneTBB) {
  for (long r = 0; r < test::rounds; ++r) {
    std::atomic<long> total{0};
    tbb::parallel_for(0L, 8L, [&](long i) {
      pool().run([&] {
        staying_here([&] {
          std::atomic<long> here{0};
          nopal::parallel_invoke([&] { tbb::parallel_for(0L, 4L, [&](long) { ++here; }); },
                                 [&] { tbb::parallel_for(0L, 4L, [&](long) { ++here; }); });
          EXPECT_EQ(here, 8);
          total += here * i;
        });
      });
    });
    EXPECT_EQ(total, 8 * test::sum_to(8));
  }
}

// oneTBB runs its bodies in the floating-point mode in which their thread has first used it, in any mode of the caller.
TEST(tbb_modes, what_a_body_forks_has_the_mode_of_the_body) {
  nopal::pool p{{.workers = 4}};
  std::atomic<int> wrong{0}, others{0};
  auto const halves = [&](int mode) {
    auto const half = [&, mode] {
      std::this_thread::yield();
      if (std::fegetround() != mode) ++wrong;
    };
    nopal::parallel_invoke(half, half, half);
  };
  for (int k = 0; k < test::scaled(300, 30); ++k) {
    p.run([&, asked_for = k % 2 == 0 ? FE_UPWARD : FE_DOWNWARD] {
      nopal::floating_point_mode const here{asked_for};
      auto const loop = [&] {
        {
          nopal::stay const guard;
          tbb::parallel_for(0, 4, [&](int) {
            if (nopal::pool::current() != &p) return;
            int const mode = std::fegetround();
            if (mode != asked_for) ++others;
            halves(mode);
          });
        }
        halves(asked_for);
      };
      nopal::parallel_invoke(loop, loop, loop);
    });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(others, 0) << "oneTBB has left the mode as it was, and nothing was tested";
}

}  // namespace

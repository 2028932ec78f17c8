// OpenMP above and below nopal, by the runtime of the compiler: LLVM's or GCC's. A thread of a team is identified by its number, which
// decides what it may do: it must be the same thread after nopal's joins.

#include <omp.h>

#include <atomic>
#include <cstdlib>

#include "at_home.hpp"

namespace {

constexpr long n = 32;  // of one sum

// More threads than CPUs: idle ones sleep. LLVM's runtime reads this when the first team is made.
[[maybe_unused]] int const passive = ::setenv("OMP_WAIT_POLICY", "passive", 0);

class openmp_at_home : public test::at_home {
  /// The same for all cases: LLVM's runtime, 22 at least, crashes if threads that have run OpenMP's tasks have ended and others run some,
  /// also without nopal.
  static nopal::pool& kept(test::staying by) {
    static nopal::pool home{options(test::staying::home_pool)}, other{options(test::staying::guard)};
    return by == test::staying::home_pool ? home : other;
  }

 protected:
  openmp_at_home() : at_home{kept} {}

  /// The sum of 0 .. n - 1, by a thread of a team, which is the same afterwards.
  long in_a_team(long which) {
    long value = 0;
    staying_here([&] {
      int const number = omp_get_thread_num(), level = omp_get_level();
      value = test::sum(0, n, which);
      if (omp_get_thread_num() != number || omp_get_level() != level) value = -1;
    });
    return value;
  }
  /// OpenMP and nopal in turn, as long as a worker of the pool is here: another thread of a team sums up once, for all.
  long nested(long depth, long which) {
    if (depth == 0) return in_a_team(which);
    if (nopal::pool::current() != &pool()) return 3 * nested(depth - 1, which);
    std::atomic<long> total{0};
    if (depth % 2 == 0) {
#pragma omp parallel for num_threads(2)
      for (long k = 0; k < 3; ++k) total += nested(depth - 1, which + k);
    } else {
      staying_here([&] {
        nopal::parallel_invoke([&] { total += nested(depth - 1, which); }, [&] { total += nested(depth - 1, which + 1); },
                               [&] { total += nested(depth - 1, which + 2); });
      });
    }
    return total;
  }
};

INSTANTIATE_TEST_SUITE_P(each, openmp_at_home, test::everyone(), test::name_of);

TEST_P(openmp_at_home, loops_fork) {
  everywhere([&](long k) {
    long total = 0;
#pragma omp parallel for num_threads(3) reduction(+ : total) schedule(dynamic)
    for (long i = 0; i < 6; ++i) total += in_a_team(k + i);
    EXPECT_EQ(total, 6 * test::sum_to(n));
  });
}

TEST_P(openmp_at_home, tasks_fork) {
  auto const tasks = [&](long k) {
    std::atomic<long> total{0};
#pragma omp parallel num_threads(3)
#pragma omp single
    {
      for (long i = 0; i < 4; ++i) {
#pragma omp task firstprivate(i)
        total += in_a_team(k + i);
      }
      total += in_a_team(k);
#pragma omp taskwait
      EXPECT_EQ(total, 5 * test::sum_to(n));
    }
  };
  everywhere(tasks, test::rounds / 4);  // LLVM's runtime takes ten times as long for these as for loops
}

TEST_P(openmp_at_home, teams_meet_at_barriers_between_forks) {
  everywhere([&](long k) {
    std::atomic<long> total{0}, singles{0};
#pragma omp parallel num_threads(3)
    {
      total += in_a_team(k);
#pragma omp barrier
#pragma omp single
      {
        EXPECT_EQ(total, omp_get_num_threads() * test::sum_to(n));
        singles += in_a_team(k + 1);
      }
      total -= in_a_team(k + 2);
    }
    EXPECT_EQ(total, 0);
    EXPECT_EQ(singles, test::sum_to(n));
  });
}

TEST_P(openmp_at_home, teams_of_teams_fork) {
  everywhere([&](long k) {
    if (k % test::rounds >= test::rounds / 4) return;
    omp_set_max_active_levels(2);
    long total = 0;
#pragma omp parallel for num_threads(2) reduction(+ : total)
    for (long i = 0; i < 2; ++i) {
      long below = 0;
#pragma omp parallel for num_threads(2) reduction(+ : below)
      for (long j = 0; j < 4; ++j) below += in_a_team(k + i + j);
      total += below;
    }
    EXPECT_EQ(total, 8 * test::sum_to(n));
  });
}

TEST_P(openmp_at_home, goes_on_with_nopal_and_back_and_again) {
  everywhere([&](long k) {
    if (k % test::rounds >= test::rounds / 4) return;
    EXPECT_EQ(nested(4, k), 81 * test::sum_to(n));
  });
}

long calls;
#pragma omp threadprivate(calls)

TEST_P(openmp_at_home, what_a_thread_has_of_its_own_is_found_again) {
  everywhere([&](long k) {
#pragma omp parallel for num_threads(3)
    for (long i = 0; i < 6; ++i) {
      staying_here([&] {
        long* const mine = &calls;
        long const before = ++*mine;
        EXPECT_EQ(test::sum(0, n, k + i), test::sum_to(n));
        EXPECT_EQ(&calls, mine);
        EXPECT_GE(calls, before);
      });
    }
  });
}

TEST_P(openmp_at_home, locks_of_a_thread_are_held_across_joins) {
  everywhere([&](long k) {
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
    long total = 0;
#pragma omp parallel for num_threads(3)
    for (long i = 0; i < 6; ++i) {
      omp_set_nest_lock(&lock);
      staying_here([&] {
        omp_set_nest_lock(&lock);  // which only its owner can
        total += test::sum(0, n, k + i);
        omp_unset_nest_lock(&lock);
      });
      omp_unset_nest_lock(&lock);
    }
    omp_destroy_nest_lock(&lock);
    EXPECT_EQ(total, 6 * test::sum_to(n));
  });
}

TEST(openmp, has_all_cpus_below_a_pinned_worker) {
  int const outside = omp_get_num_procs();
  nopal::pool pool{{.workers = 1, .pin = true}};
  EXPECT_EQ(pool.submit(omp_get_num_procs).get(), outside);
  EXPECT_EQ(pool.submit(omp_get_max_threads).get(), omp_get_max_threads());
}

}  // namespace

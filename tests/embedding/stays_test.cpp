// Stacks that stay: pool_options::resume and nopal::stay. Each join and each wait returns on the thread that called it, on whichever worker
// the work runs; what the thread runs during a join does not want a lock that is held across the join; and nothing stands still.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nopal/channel.hpp>
#include <nopal/nopal.hpp>
#include <nopal/stay.hpp>

#include "../fib.hpp"
#include "../scale.hpp"
#include "../this_thread.hpp"

namespace {

using namespace std::chrono_literals;
using test::this_thread;

long serial_fib(long n) { return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2); }

long fib_by_invoke(long n, std::atomic<long>& moved) {
  if (n < 2) return n;
  pid_t const before = this_thread();
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib_by_invoke(n - 1, moved); }, [&] { b = fib_by_invoke(n - 2, moved); });
  if (this_thread() != before) ++moved;
  return a + b;
}

long fib_by_scope(long n, std::atomic<long>& moved) {
  if (n < 2) return n;
  pid_t const before = this_thread();
  long a = 0, b = 0;
  {
    nopal::scope s;
    s.fork([&] { a = fib_by_scope(n - 1, moved); });
    if (this_thread() != before) ++moved;
    s.fork([&] { b = fib_by_scope(n - 2, moved); });
    if (this_thread() != before) ++moved;
    s.join();
  }
  if (this_thread() != before) ++moved;
  return a + b;
}

nopal::pool_options home(unsigned workers) {
  nopal::pool_options o;
  o.workers = workers;
  o.resume = nopal::resume::home;
  return o;
}

struct home_pools : testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, home_pools, testing::Values(1U, 2U, 3U, 8U));

TEST_P(home_pools, joins_of_parallel_invoke_return_on_their_thread) {
  nopal::pool p{home(GetParam())};
  std::atomic<long> moved{0};
  for (int k = 0; k < 20; ++k) EXPECT_EQ(p.run([&] { return fib_by_invoke(22, moved); }), serial_fib(22));
  EXPECT_EQ(moved, 0);
}

TEST_P(home_pools, forks_and_joins_of_scopes_return_on_their_thread) {
  nopal::pool p{home(GetParam())};
  std::atomic<long> moved{0};
  for (int k = 0; k < 20; ++k) EXPECT_EQ(p.run([&] { return fib_by_scope(14, moved); }), serial_fib(14));
  EXPECT_EQ(moved, 0);
}

TEST_P(home_pools, waits_of_every_kind_return_on_their_thread) {
  nopal::pool p{home(GetParam())};
  std::atomic<long> moved{0};
  auto const stays = [&](auto f) {
    pid_t const before = this_thread();
    f();
    if (this_thread() != before) ++moved;
  };
  nopal::mutex m;
  nopal::channel<int> ch{2};
  p.run([&] {
    nopal::counter all;
    for (int k = 0; k < 200; ++k) {
      nopal::spawn(all, [&, k] {
        stays([] { nopal::yield(); });
        stays([&] {
          m.lock();
          nopal::yield();
          m.unlock();
        });
        stays([&] {
          nopal::counter c;
          nopal::spawn(c, [] { nopal::yield(); });
          nopal::wait_for(c);
        });
        stays([] { nopal::sleep_for(100us); });
        stays([&] { EXPECT_EQ(nopal::sync_wait(test::fib_task, 10L), 55); });
        stays([&] { EXPECT_EQ(p.run(serial_fib, 10L), 55); });
        stays([&] { EXPECT_EQ(p.submit(serial_fib, 10L).get(), 55); });
        stays([&] {
          if (k % 2 == 0) {
            ch.push(k);
          } else {
            ch.pop();
          }
        });
      });
    }
    nopal::wait_for(all);
  });
  EXPECT_EQ(moved, 0);
}

TEST_P(home_pools, many_fibers_that_wait_come_home) {
  nopal::pool p{home(GetParam())};
  std::atomic<long> moved{0};
  p.run([&] {
    nopal::counter all, go{1};
    for (int k = 0; k < 5000; ++k) {
      nopal::spawn(all, [&] {
        pid_t const before = this_thread();
        nopal::wait_for(go);
        if (this_thread() != before) ++moved;
      });
    }
    nopal::yield();
    go.done(1);
    nopal::wait_for(all);
  });
  EXPECT_EQ(moved, 0);
}

// Each of many jobs locks the same mutex, forks, joins, and unlocks. A mutex that checks reports its owner.
void lock_across_joins(nopal::pool& p, bool says_so) {
  pthread_mutex_t m;
  pthread_mutexattr_t kind;
  ASSERT_EQ(::pthread_mutexattr_init(&kind), 0);
  ASSERT_EQ(::pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK), 0);
  ASSERT_EQ(::pthread_mutex_init(&m, &kind), 0);
  std::atomic<long> wrong{0}, moved{0};
  p.run([&] {
    nopal::counter all;
    for (int k = 0; k < 64; ++k) {
      nopal::spawn(all, [&] {
        std::optional<nopal::stay> guard;
        if (says_so) guard.emplace();
        if (::pthread_mutex_lock(&m) != 0) ++wrong;
        if (fib_by_invoke(15, moved) != 610) ++wrong;
        if (fib_by_scope(8, moved) != 21) ++wrong;
        if (nopal::sync_wait(test::fib_task, 8L) != 21) ++wrong;
        if (::pthread_mutex_unlock(&m) != 0) ++wrong;
      });
    }
    nopal::wait_for(all);
  });
  EXPECT_EQ(wrong, 0);
  if (!says_so) {
    EXPECT_EQ(moved, 0);
  }
  ::pthread_mutex_destroy(&m);
  ::pthread_mutexattr_destroy(&kind);
}

TEST_P(home_pools, a_lock_is_held_across_joins) {
  nopal::pool p{home(GetParam())};
  for (int k = 0; k < 5; ++k) lock_across_joins(p, false);
}

struct stay : testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, stay, testing::Values(1U, 2U, 3U, 8U));

TEST_P(stay, a_lock_is_held_across_joins) {
  nopal::pool p{{.workers = GetParam()}};
  for (int k = 0; k < 5; ++k) lock_across_joins(p, true);
}

TEST_P(stay, joins_and_waits_return_on_their_thread) {
  nopal::pool p{{.workers = GetParam()}};
  std::atomic<long> moved{0};
  auto const job = [&] {
    nopal::stay const guard;
    pid_t const before = this_thread();
    std::atomic<long> others{0};  // halves that others take stay nowhere
    for (int k = 0; k < 5; ++k) {
      EXPECT_EQ(fib_by_invoke(15, others), 610);
      if (this_thread() != before) ++moved;
      EXPECT_EQ(fib_by_scope(8, others), 21);
      if (this_thread() != before) ++moved;
      EXPECT_EQ(nopal::sync_wait(test::fib_task, 12L), 144);
      if (this_thread() != before) ++moved;
      nopal::counter c;
      for (int i = 0; i < 10; ++i) nopal::spawn(c, [] { nopal::yield(); });
      nopal::wait_for(c);
      if (this_thread() != before) ++moved;
      nopal::yield();
      if (this_thread() != before) ++moved;
    }
  };
  for (int k = 0; k < 5; ++k) {
    p.run(job);  // by a thread outside
    p.run([&] {
      nopal::counter all;
      for (int i = 0; i < 32; ++i) nopal::spawn(all, job);
      nopal::wait_for(all);
    });
    p.submit(job).get();
  }
  EXPECT_EQ(moved, 0);
}

TEST(stay_at, the_second_half_may_stay_too) {
  nopal::pool p{{.workers = 4}};
  p.run([&] {
    nopal::stay const one;
    nopal::parallel_invoke([] { nopal::sleep_for(1ms); },
                           [] {
                             nopal::stay const two;
                             pid_t const before = this_thread();
                             nopal::sleep_for(2ms);
                             EXPECT_EQ(this_thread(), before);
                           });
  });
}

TEST(stay_at, nothing_stands_still_where_all_workers_stay) {
  for (unsigned const workers : {1U, 2U, 4U}) {
    nopal::pool p{{.workers = workers}};
    for (int k = 0; k < 20; ++k) {
      nopal::counter reached, go{1};
      // Each waits for the last, which only starts when some of them has made way.
      p.run([&] {
        nopal::counter all;
        for (int i = 0; i < 20; ++i) {
          nopal::spawn(all, [&] {
            nopal::stay const guard;
            nopal::parallel_invoke([&] { nopal::wait_for(go); }, [&] { nopal::wait_for(go); });
          });
        }
        nopal::spawn(all, [&] { go.done(1); });
        nopal::wait_for(all);
      });
    }
  }
}

TEST(stay_at, a_report_tells_what_is_waited_for) {
  nopal::pool p{{.workers = 2}};
  nopal::counter gate{1}, all;
  p.spawn(all, [&] {
    nopal::stay const guard;
    nopal::wait_for(gate);
  });
  std::string seen;
  while ((seen = p.report()).find("a counter at") == std::string::npos) nopal::sleep_for(1ms);
  EXPECT_NE(seen.find("it is 1, and this waits until it is 0"), std::string::npos) << seen;
  gate.done();
  nopal::wait_for(all);
  EXPECT_EQ(p.report(), "nothing waits\n");
}

TEST(stay_at, a_stack_that_stays_is_woken_from_outside) {
  nopal::pool p{{.workers = 2}};
  for (int k = 0; k < 50; ++k) {
    nopal::counter c{1};
    std::thread outside{[&] { c.done(1); }};
    p.run([&] {
      nopal::stay const guard;
      pid_t const before = this_thread();
      nopal::wait_for(c);
      EXPECT_EQ(this_thread(), before);
    });
    outside.join();
  }
}

TEST(stay_at, a_task_moved_to_a_worker_that_stays_runs_there) {
  nopal::pool p{{.workers = 3}};
  p.run([&] {
    nopal::counter all;
    for (int k = 0; k < 30; ++k) {
      nopal::spawn(all, [&p, k] {
        nopal::stay const guard;
        auto moves = [](nopal::pool* there, unsigned i) -> nopal::task<unsigned> {
          co_await nopal::resume_on(there->worker(i));
          co_return nopal::this_worker::index();
        };
        EXPECT_EQ(nopal::sync_wait(moves, &p, static_cast<unsigned>(k % 3)), static_cast<unsigned>(k % 3));
      });
    }
    nopal::wait_for(all);
  });
}

TEST(stay_at, a_scopes_children_throw_in_serial_order) {
  nopal::pool p{{.workers = 4}};
  for (int k = 0; k < 50; ++k) {
    p.run([&] {
      nopal::stay const guard;
      nopal::scope s;
      for (int i = 0; i < 8; ++i) {
        s.fork([i] {
          if (i >= 3) throw std::runtime_error{std::to_string(i)};
        });
      }
      try {
        s.join();
        ADD_FAILURE();
      } catch (std::runtime_error const& e) {
        EXPECT_STREQ(e.what(), "3");
      }
      int after = 0;
      s.fork([&] { after = 1; });  // the scope may be used again
      s.join();
      EXPECT_EQ(after, 1);
    });
  }
}

TEST(stay_at, a_scope_may_begin_before_and_end_after) {
  nopal::pool p{{.workers = 3}};
  for (int k = 0; k < 200; ++k) {
    std::atomic<int> n{0};
    p.run([&] {
      nopal::scope s;
      for (int i = 0; i < 4; ++i) s.fork([&] { n += static_cast<int>(serial_fib(15) == 610); });
      {
        nopal::stay const guard;
        pid_t const before = this_thread();
        for (int i = 0; i < 4; ++i) s.fork([&] { n += static_cast<int>(serial_fib(15) == 610); });
        EXPECT_EQ(this_thread(), before);
      }
      for (int i = 0; i < 4; ++i) s.fork([&] { n += static_cast<int>(serial_fib(15) == 610); });
      s.join();
    });
    EXPECT_EQ(n, 12);
  }
}

TEST(stay_at, it_does_nothing_off_a_pool) {
  nopal::stay const guard;
  pid_t const before = this_thread();
  std::atomic<long> others{0};
  EXPECT_EQ(fib_by_invoke(15, others), 610);
  EXPECT_EQ(this_thread(), before);
}

}  // namespace

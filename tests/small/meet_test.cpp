// latch, barrier, shared_mutex: each with fibers, tasks, functions and threads, time limits, requests to stop, and misuse.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/barrier.hpp"
#include "nopal/fiber.hpp"
#include "nopal/latch.hpp"
#include "nopal/native.hpp"
#include "nopal/shared_mutex.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"
#include "stopped.hpp"

namespace {

using namespace std::chrono_literals;
using test::is_stopped;
using test::on_some_pools;

/// Runs each function as a fiber, and returns when all have ended.
void as_fibers(nopal::pool& pool, int n, std::function<void(int)> const& f) {
  nopal::counter left;
  for (int k = 0; k < n; ++k) pool.spawn(left, [&, k] { f(k); });
  nopal::wait_for(left);
}

// ---- latch

TEST(latch_test, opens_for_fibers_tasks_functions_and_threads) {
  on_some_pools([](nopal::pool& pool) {
    for (int k = 0; k < test::scaled(200); ++k) {
      nopal::latch all{4};
      int written = 0;
      std::atomic<int> seen{0};
      nopal::counter left;
      for (int i = 0; i < 3; ++i) {
        pool.spawn(left, [&] {
          all.arrive_and_wait();
          seen += written;
        });
      }
      std::thread foreign{[&] {
        all.wait();
        seen += written;
      }};
      pool.run([&]() -> nopal::task<> {
        written = 1;
        all.count_down();
        all.wait();
        seen += written;
        co_return;
      });
      foreign.join();
      nopal::wait_for(left);
      EXPECT_TRUE(all.try_wait());
      ASSERT_EQ(seen, 5);
    }
  });
}

TEST(latch_test, may_be_destroyed_by_whoever_waited) {
  on_some_pools([](nopal::pool& pool) {
    for (int k = 0; k < test::scaled(2000); ++k) {
      auto one = std::make_unique<nopal::latch>(1);
      auto& l = *one;
      nopal::counter left;
      pool.spawn(left, [&l] { l.count_down(); });
      if (k % 2 == 0) {
        pool.run([&] { one->wait(), one.reset(); });
      } else {
        one->wait();
        one.reset();
      }
      nopal::wait_for(left);
    }
  });
}

TEST(latch_test, time_limits_race_with_the_last_count) {
  nopal::pool pool{{.workers = 2}};
  long const rounds = test::scaled(100'000, 50);
  pool.run([&] {
    for (long k = 0; k < rounds; ++k) {
      nopal::latch one{1};
      nopal::counter left;
      nopal::spawn(left, [&] { one.count_down(); });
      bool const opened = one.wait_for(std::chrono::nanoseconds{k % 64 * 50});
      ASSERT_TRUE(!opened || one.try_wait());
      nopal::wait_for(left);
      ASSERT_TRUE(one.wait_for(0ns));
    }
  });
}

TEST(latch_test, ends_early) {
  nopal::pool pool{{.workers = 2}};
  nopal::latch never{1};
  EXPECT_TRUE(is_stopped(pool, [&] { never.wait(); }));
  EXPECT_TRUE(is_stopped(pool, [&] { never.wait_for(1h); }));
  EXPECT_FALSE(never.wait_for(1us));
  EXPECT_FALSE(pool.run([&] { return never.wait_until(std::chrono::system_clock::now() + 1us); }));
}

TEST(latch_test, refuses_bad_numbers) {
  EXPECT_THROW(nopal::latch{-1}, std::invalid_argument);
  EXPECT_THROW(nopal::latch{nopal::latch::max() + 1}, std::invalid_argument);
  nopal::latch open{0};
  open.wait();
  nopal::latch two{2};
  EXPECT_THROW(two.count_down(-1), std::invalid_argument);
  EXPECT_THROW(two.count_down(3), std::invalid_argument);
  EXPECT_FALSE(two.try_wait());
  two.count_down(2);
  EXPECT_TRUE(two.try_wait());
  EXPECT_THROW(two.count_down(1), std::invalid_argument);
}

// ---- barrier

TEST(barrier_test, more_fibers_than_workers_meet_in_each_phase) {
  on_some_pools([](nopal::pool& pool) {
    int const n = 7, phases = static_cast<int>(test::scaled(300));
    int completed = 0;  // plain: what orders it is the barrier
    auto count = [&]() noexcept { ++completed; };
    nopal::barrier meet{n, count};
    std::thread foreign{[&] {
      for (int p = 0; p < phases; ++p) {
        meet.arrive_and_wait();
        EXPECT_GE(completed, p + 1);
        meet.arrive_and_wait();
      }
    }};
    as_fibers(pool, n - 1, [&](int) {
      for (int p = 0; p < phases; ++p) {
        auto t = meet.arrive();
        meet.wait(std::move(t));
        EXPECT_GE(completed, 2 * p + 1);
        meet.arrive_and_wait();
      }
    });
    foreign.join();
    EXPECT_EQ(completed, 2 * phases);
  });
}

TEST(barrier_test, whoever_drops_out_is_not_expected_again) {
  on_some_pools([](nopal::pool& pool) {
    std::atomic<int> sum{0};
    nopal::barrier meet{5};
    as_fibers(pool, 5, [&](int k) {
      for (int p = 0; p < k; ++p) meet.arrive_and_wait();
      meet.arrive_and_drop();
      ++sum;
    });
    EXPECT_EQ(sum, 5);
    EXPECT_THROW(static_cast<void>(meet.arrive()), std::invalid_argument);  // no thread is expected
  });
}

TEST(barrier_test, a_completion_that_throws_holds_up_nobody) {
  struct moved_only {
    std::unique_ptr<int> left;
    void operator()() const {
      if (--*left == 0) throw std::runtime_error{"last"};
    }
  };
  on_some_pools([](nopal::pool& pool) {
    nopal::barrier<moved_only> meet{3, moved_only{std::make_unique<int>(2)}};
    std::atomic<int> thrown{0}, passed{0};
    as_fibers(pool, 3, [&](int) {
      for (int p = 0; p < 4; ++p) {
        try {
          meet.arrive_and_wait();
          ++passed;
        } catch (std::runtime_error const&) {
          ++thrown;
        }
      }
    });
    EXPECT_EQ(thrown, 1);
    EXPECT_EQ(passed, 11);
  });
}

TEST(barrier_test, a_completion_may_wait_for_the_pool) {
  on_some_pools([](nopal::pool& pool) {
    int completed = 0;
    nopal::barrier meet{4, [&] {
                          nopal::parallel_invoke([] { nopal::yield(); }, [] {});
                          ++completed;
                        }};
    as_fibers(pool, 4, [&](int) {
      for (int p = 0; p < 20; ++p) {
        meet.arrive_and_wait();
        EXPECT_GE(completed, p + 1);
      }
    });
  });
}

TEST(barrier_test, time_limits_race_with_arrival) {
  nopal::pool pool{{.workers = 2}};
  long const rounds = test::scaled(100'000, 50);
  nopal::barrier meet{2};
  as_fibers(pool, 2, [&](int k) {
    for (long r = 0; r < rounds; ++r) {
      auto t = meet.arrive();
      if (k == 1 || !meet.wait_for(t, std::chrono::nanoseconds{r % 64 * 50})) meet.wait(std::move(t));
    }
  });
  auto t = meet.arrive();
  EXPECT_FALSE(meet.wait_for(t, 1us));
  EXPECT_FALSE(meet.wait_until(t, std::chrono::system_clock::now()));
  EXPECT_TRUE(is_stopped(pool, [&] { meet.wait_for(t, 1h); }));
  EXPECT_TRUE(is_stopped(pool, [&] { meet.wait(std::move(t)); }));
  auto second = meet.arrive();
  EXPECT_TRUE(meet.wait_for(second, 0s));
}

TEST(barrier_test, refuses_bad_numbers) {
  EXPECT_THROW(nopal::barrier<>{-1}, std::invalid_argument);
  nopal::barrier meet{2};
  EXPECT_THROW(static_cast<void>(meet.arrive(3)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(meet.arrive(0)), std::invalid_argument);
  EXPECT_TRUE(meet.wait_for(meet.arrive(2), 0s));
}

// ---- shared_mutex

TEST(shared_mutex_test, one_writes_or_many_read) {
  on_some_pools([](nopal::pool& pool) {
    nopal::shared_mutex m;
    int a = 0, b = 0;  // plain
    int const rounds = static_cast<int>(test::scaled(2000));
    auto const work = [&](int k) {
      for (int r = 0; r < rounds; ++r) {
        if ((r + k) % 4 == 0) {
          std::unique_lock const lock{m};
          ++a;
          if (r % 16 == 0) nopal::yield();
          ++b;
        } else {
          std::shared_lock const lock{m};
          EXPECT_EQ(a, b);
          if (r % 16 == 1) nopal::yield();
        }
      }
    };
    std::thread foreign{[&] { work(0); }};
    as_fibers(pool, 7, work);
    foreign.join();
    EXPECT_EQ(a, b);
    EXPECT_EQ(a, 8 * rounds / 4);
  });
}

TEST(shared_mutex_test, a_reader_waits_behind_a_writer_that_waits) {
  nopal::pool pool{{.workers = 2}};
  nopal::shared_mutex m;
  m.lock_shared();
  EXPECT_TRUE(m.try_lock_shared());
  EXPECT_FALSE(m.try_lock());
  std::atomic<int> wrote{0};
  nopal::counter left;
  pool.spawn(left, [&] {
    m.lock();
    wrote = 1;
    m.unlock();
  });
  while (m.try_lock_shared()) {  // until the writer is in the queue
    m.unlock_shared();
    std::this_thread::yield();
  }
  EXPECT_EQ(wrote, 0);
  pool.spawn(left, [&] {
    m.lock_shared();
    EXPECT_EQ(wrote, 1);
    m.unlock_shared();
  });
  EXPECT_FALSE(m.try_lock_shared_for(1us));
  m.unlock_shared();
  m.unlock_shared();
  nopal::wait_for(left);
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(shared_mutex_test, a_writer_that_gives_up_lets_the_readers_behind_it_in) {
  nopal::pool pool{{.workers = 2}};
  for (int k = 0; k < 20; ++k) {
    nopal::shared_mutex m;
    m.lock_shared();
    std::stop_source source;
    auto writer = pool.submit(source.get_token(), [&] {
      try {
        return m.try_lock_for(1h) ? 1 : 0;
      } catch (nopal::stopped const&) {
        return 2;
      }
    });
    while (m.try_lock_shared()) {
      m.unlock_shared();
      std::this_thread::yield();
    }
    auto reader = pool.submit([&] {
      m.lock_shared();
      m.unlock_shared();
    });
    source.request_stop();
    EXPECT_EQ(writer.get(), 2);
    reader.get();  // though the first reader still reads
    m.unlock_shared();
  }
}

TEST(shared_mutex_test, time_limits_race_with_unlock) {
  nopal::pool pool{{.workers = 2}};
  nopal::shared_mutex m;
  long const rounds = test::scaled(100'000, 50);
  int written = 0;
  std::atomic<int> times{0};
  as_fibers(pool, 3, [&](int k) {
    for (long r = 0; r < rounds / 2; ++r) {
      auto const limit = std::chrono::nanoseconds{(r + k) % 64 * 30};
      if ((r + k) % 3 == 0) {
        if (!m.try_lock_shared_for(limit)) continue;
        m.unlock_shared();
      } else if (k == 0 ? m.try_lock_until(std::chrono::steady_clock::now() + limit) : m.try_lock_for(limit)) {
        ++written;
        ++times;
        if (r % 8 == 0) nopal::yield();
        m.unlock();
      }
    }
  });
  EXPECT_EQ(written, times);
}

}  // namespace

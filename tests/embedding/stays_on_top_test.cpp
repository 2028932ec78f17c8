// What runs on top of a stack that stays, and waits or yields there; unrelated strands that want a lock held below.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include <nopal/nopal.hpp>
#include <nopal/stay.hpp>

#include "../scale.hpp"
#include "../this_thread.hpp"

namespace {

using namespace std::chrono_literals;
using test::this_thread;

// What runs on top of a stack that stays, in a pool whose stacks do not, offers no stack: nor does a job that is called there.
TEST(stays_on_top, scopes_on_top_and_in_jobs_that_are_called_stay_too) {
  nopal::pool p{{.workers = 4}};
  std::atomic<long> moved{0};
  auto const scopes = [&moved] {
    pid_t const before = this_thread();
    nopal::scope s;
    for (int i = 0; i < 4; ++i) {
      s.fork([] { std::this_thread::yield(); });
      if (this_thread() != before) ++moved;
    }
    s.join();
  };
  for (int k = 0; k < test::scaled(200, 20); ++k) {
    p.run([&] {
      nopal::stay const guard;
      pid_t const before = this_thread();
      std::function<void(int)> const work = [&](int depth) {
        if (depth == 0) {
          nopal::scope s;
          for (int i = 0; i < 4; ++i) s.fork([] { std::this_thread::yield(); });
          s.join();
          return;
        }
        nopal::parallel_invoke([&] { work(depth - 1); }, [&] { work(depth - 1); });
      };
      nopal::parallel_invoke([] { std::this_thread::yield(); }, [&] { work(4); });
      if (this_thread() != before) ++moved;
      p.run([&] {
        pid_t const in_job = this_thread();
        nopal::parallel_invoke(scopes, [] { std::this_thread::yield(); });
        if (this_thread() != in_job) ++moved;
      });
      if (this_thread() != before) ++moved;
    });
  }
  EXPECT_EQ(moved, 0);
}

/// A thread that holds a mutex of the standard library waits for `work`, which it may run itself in part, while a fiber wants the mutex.
/// `begun`: the other worker has begun `work`.
void lock_beside_a_stranger(nopal::pool& p, std::atomic<int>& begun, std::function<void()> const& work) {
  std::mutex m;
  nopal::counter all;
  auto job = p.submit([&] {
    nopal::stay const guard;
    m.lock();
    nopal::parallel_invoke(
        [&] {
          while (begun == 0) std::this_thread::yield();
          nopal::spawn(all, [&] { std::lock_guard const asked{m}; });
        },
        work);
    m.unlock();
  });
  job.get();
  nopal::wait_for(all);
}

nopal::task<> child_that_waits(std::atomic<int>& begun, std::atomic<int>& stolen) {
  begun = 1;
  while (stolen == 0) std::this_thread::yield();
  co_return;
}
nopal::task<> parent_that_is_stolen(std::atomic<int>& begun, std::atomic<int>& stolen) {
  co_await nopal::fork(child_that_waits, std::ref(begun), std::ref(stolen));
  stolen = 1;
  std::this_thread::sleep_for(2ms);
  co_await nopal::join;
}

TEST(stays_on_top, a_job_that_ends_on_top_lets_its_waiter_go_on_here) {
  for (int k = 0; k < test::scaled(50, 5); ++k) {
    nopal::pool p{{.workers = 2}};
    std::atomic<int> begun{0}, stolen{0};
    lock_beside_a_stranger(p, begun, [&] { nopal::sync_wait(parent_that_is_stolen, std::ref(begun), std::ref(stolen)); });
  }
}

TEST(stays_on_top, a_yield_on_top_lets_no_stranger_run) {
  for (int k = 0; k < test::scaled(50, 5); ++k) {
    nopal::pool p{{.workers = 2}};
    std::atomic<int> begun{0}, second{0};
    lock_beside_a_stranger(p, begun, [&] {
      begun = 1;
      nopal::parallel_invoke(
          [&] {
            while (second == 0) std::this_thread::yield();
          },
          [&] {
            second = 1;
            for (int i = 0; i < 4; ++i) nopal::yield();
          });
    });
  }
}

// Each yields until a fiber that has not begun yet has run.
TEST(stays_on_top, who_yields_where_all_stay_lets_others_run_in_the_end) {
  nopal::pool p{{.workers = 2}};
  for (int k = 0; k < test::scaled(20, 5); ++k) {
    std::atomic<int> go{0};
    p.run([&] {
      nopal::counter all;
      for (int i = 0; i < 4; ++i) {
        nopal::spawn(all, [&] {
          nopal::stay const guard;
          while (go == 0) nopal::yield();
        });
      }
      nopal::spawn(all, [&] { go = 1; });
      nopal::wait_for(all);
    });
  }
}

}  // namespace

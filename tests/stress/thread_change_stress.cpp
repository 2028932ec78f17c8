// What belongs to a thread is read again after every call that may change the thread, not only by luck of the optimiser:
// core/architecture/thread_words.hpp. Here functions stay on the stack, hold all that they can, and change threads as often as they can.
// Needs the companion simulation.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <nopal/nopal.hpp>
#include <vector>

namespace {

constexpr int fibers = 100;
#if NOPAL_ASAN || NOPAL_TSAN
constexpr int rounds = 100;
#else
constexpr int rounds = 1000;
#endif

TEST(thread_change_stress, fibers_lock_yield_and_unlock) {
  nopal::pool pool{{.workers = 4}};
  pool.run([] {
    nopal::mutex mutex;
    long sum = 0;
    nopal::counter left;
    for (int k = 0; k < fibers; ++k) {
      nopal::spawn(left, [&] {
        for (int i = 0; i < rounds; ++i) {
          mutex.lock();
          ++sum;
          nopal::yield();
          mutex.unlock();
        }
      });
    }
    nopal::wait_for(left);
    EXPECT_EQ(sum, long{fibers} * rounds);
  });
}

// The worker's index from before and after a change, in one function that the compiler sees whole. Under a controlled schedule functions
// always change workers; without one they run at once.
TEST(thread_change_stress, the_worker_is_the_one_that_runs_here) {
  std::atomic<int> changes{0};
  for (nopal::schedule const how : {nopal::schedule::free, nopal::schedule::steal_at_random}) {
    nopal::pool pool{{.workers = 4, .seed = 7, .schedule = how}};
    pool.run([&] {
      nopal::counter left;
      std::vector<std::atomic<bool>> busy(4);
      for (int k = 0; k < fibers; ++k) {
        nopal::spawn(left, [&] {
          unsigned before = nopal::this_worker::index();
          for (int i = 0; i < rounds / 10; ++i) {
            unsigned const here = nopal::this_worker::index();
            EXPECT_FALSE(busy[here].exchange(true)) << "two run as one worker";
            changes += here != before;
            before = here;
            EXPECT_TRUE(busy[here].exchange(false));
            nopal::yield();
          }
        });
      }
      nopal::wait_for(left);
    });
  }
  EXPECT_GT(changes, 0);
}

// Forks and exceptions, which also have state of a thread, around waits.
TEST(thread_change_stress, functions_fork_wait_and_throw) {
  nopal::pool pool{{.workers = 4}};
  pool.run([] {
    nopal::counter left;
    std::atomic<long> caught{0};
    for (int k = 0; k < fibers; ++k) {
      nopal::spawn(left, [&] {
        for (int i = 0; i < rounds / 10; ++i) {
          try {
            throw i;
          } catch (int x) {
            int a = 0;
            int b = 0;
            nopal::parallel_invoke([&] { a = x; }, [&] { nopal::yield(), b = x; });
            nopal::yield();
            try {
              throw;
            } catch (int again) {
              if (again == i && a == i && b == i) ++caught;
            }
          }
        }
      });
    }
    nopal::wait_for(left);
    EXPECT_EQ(caught, long{fibers} * (rounds / 10));
  });
}

}  // namespace

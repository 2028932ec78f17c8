// Code that stays finds its thread again after any wait: the thread's number and address, its thread-locals, its locks.
// Needs the companion simulation.

#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <stdexcept>

#include "at_home.hpp"

namespace {

using namespace std::chrono_literals;

thread_local int of_the_thread = 0;

// What a compiler may assume constant on one thread is read again.
#if defined(__clang__)
#define ASKED_ANEW [[clang::noinline]]
#else
#define ASKED_ANEW [[gnu::noipa]]
#endif
ASKED_ANEW void* address_in_the_thread() {
  void* p = &of_the_thread;
  asm volatile("" : "+r"(p) : : "memory");
  return p;
}
ASKED_ANEW pthread_t the_thread() {
  pthread_t t = ::pthread_self();
  asm volatile("" : "+r"(t) : : "memory");
  return t;
}
ASKED_ANEW int error_number() {
  int e = errno;
  asm volatile("" : "+r"(e) : : "memory");
  return e;
}
ASKED_ANEW void set_error_number(int e) {
  asm volatile("" : "+r"(e) : : "memory");
  errno = e;
}

/// How the workers' turns are decided, and who calls.
class thread_identity : public test::at_home {
 protected:
  explicit thread_identity(nopal::schedule how = nopal::schedule::free, unsigned workers = many()) : at_home{how, workers} {}

  /// Calls f(k), everywhere; the thread is the same afterwards.
  template <class F>
  void leaves_the_thread(F const& f) {
    everywhere([&](long k) {
      pthread_t const thread = the_thread();
      std::thread::id const id = std::this_thread::get_id();
      void* const address = address_in_the_thread();
      f(k);
      EXPECT_TRUE(::pthread_equal(the_thread(), thread));
      EXPECT_EQ(std::this_thread::get_id(), id);
      EXPECT_EQ(address_in_the_thread(), address);
    });
  }
};

/// The same with a schedule that steals all forks at once.
class thread_identity_stolen : public thread_identity {
 protected:
  thread_identity_stolen() : thread_identity{nopal::schedule::steal_always, 3} {}
};
/// The same with a random schedule.
class thread_identity_drawn : public thread_identity {
 protected:
  thread_identity_drawn() : thread_identity{nopal::schedule::steal_at_random, 3} {}
};

INSTANTIATE_TEST_SUITE_P(each, thread_identity, test::everyone(), test::name_of);
INSTANTIATE_TEST_SUITE_P(each, thread_identity_stolen, test::everyone(), test::name_of);
INSTANTIATE_TEST_SUITE_P(each, thread_identity_drawn, test::everyone(), test::name_of);

constexpr long n = 16;

void forks(long k) { EXPECT_EQ(test::sum_by_forks(0, n), test::sum_to(n)) << k; }
TEST_P(thread_identity, outlasts_parallel_invoke) { leaves_the_thread(forks); }
TEST_P(thread_identity_stolen, outlasts_parallel_invoke) { leaves_the_thread(forks); }
TEST_P(thread_identity_drawn, outlasts_parallel_invoke) { leaves_the_thread(forks); }

/// Also between the forks.
void forks_children(long k) {
  std::array<long, 6> values{};
  nopal::scope s;
  for (std::size_t c = 0; c < values.size(); ++c) {
    void* const address = address_in_the_thread();
    s.fork([&values, c, k] {
      if ((c + static_cast<std::size_t>(k)) % 2 == 0) std::this_thread::yield();
      values[c] = 1;
    });
    EXPECT_EQ(address_in_the_thread(), address) << "after fork " << c;
  }
  s.join();
  for (long const v : values) EXPECT_EQ(v, 1);
}
TEST_P(thread_identity, outlasts_scopes) { leaves_the_thread(forks_children); }
TEST_P(thread_identity_stolen, outlasts_scopes) { leaves_the_thread(forks_children); }
TEST_P(thread_identity_drawn, outlasts_scopes) { leaves_the_thread(forks_children); }

void waits_for_a_task(long) { EXPECT_EQ(nopal::sync_wait(test::sum_by_tasks, 0L, n), test::sum_to(n)); }
TEST_P(thread_identity, outlasts_sync_wait) { leaves_the_thread(waits_for_a_task); }
TEST_P(thread_identity_stolen, outlasts_sync_wait) { leaves_the_thread(waits_for_a_task); }
TEST_P(thread_identity_drawn, outlasts_sync_wait) { leaves_the_thread(waits_for_a_task); }

void waits_for_fibers(long k) {
  nopal::counter left;
  for (int c = 0; c < 3; ++c) {
    nopal::spawn(left, [k] {
      if (k % 2 == 0) nopal::yield();
    });
  }
  nopal::wait_for(left);
}
TEST_P(thread_identity, outlasts_wait_for) { leaves_the_thread(waits_for_fibers); }
TEST_P(thread_identity_stolen, outlasts_wait_for) { leaves_the_thread(waits_for_fibers); }
TEST_P(thread_identity_drawn, outlasts_wait_for) { leaves_the_thread(waits_for_fibers); }

void yields(long) { nopal::yield(); }
TEST_P(thread_identity, outlasts_yield) { leaves_the_thread(yields); }
TEST_P(thread_identity_drawn, outlasts_yield) { leaves_the_thread(yields); }

void sleeps(long k) { nopal::sleep_for(std::chrono::microseconds{k % 7 * 20}); }
TEST_P(thread_identity, outlasts_sleep_for) { leaves_the_thread(sleeps); }

void waits_until(long k) {
  nopal::counter never{1};
  EXPECT_FALSE(nopal::wait_for(never, 0, std::chrono::microseconds{k % 7 * 20}));
  never.done();
}
TEST_P(thread_identity, outlasts_waits_with_limits) { leaves_the_thread(waits_until); }

TEST_P(thread_identity, outlasts_runs_and_futures) {
  leaves_the_thread([&](long k) {
    EXPECT_EQ(pool().run(test::sum_by_tasks, 0L, n), test::sum_to(n));
    EXPECT_EQ(pool().submit([k] { return test::sum(0, n, k); }).get(), test::sum_to(n));
  });
}

TEST_P(thread_identity, outlasts_jobs_on_another_pool) {
  nopal::pool other{{.workers = 2}};
  leaves_the_thread([&](long k) { EXPECT_EQ(other.run(test::sum, 0L, n, k), test::sum_to(n)); });
}

TEST_P(thread_identity, outlasts_the_wait_for_a_mutex) {
  nopal::mutex mutex;
  long inside = 0;
  leaves_the_thread([&](long) {
    std::lock_guard const guard{mutex};
    EXPECT_EQ(++inside, 1);
    nopal::yield();
    --inside;
  });
}

// In a section that stays, such a wait may take a third of a second (include/nopal/core/stack/stays.md): a few rounds are enough.
TEST_P(thread_identity, outlasts_channels_and_semaphores) {
  constexpr long few = std::min(test::rounds, 5L);
  nopal::channel<long> channel{1};
  nopal::semaphore room{2};
  nopal::counter left;
  pool().spawn(left, [&] {
    for (long k = 0; k < test::at_once * few; ++k) channel.push(k);
    channel.close();
  });
  std::atomic<long> sum{0}, many{0};
  leaves_the_thread([&](long k) {
    if (k % test::rounds >= few) return;
    room.acquire();
    if (auto const v = channel.pop()) {
      sum += *v;
      ++many;
    }
    room.release();
  });
  while (auto const v = channel.pop()) {  // who calls from outside calls less often
    sum += *v;
    ++many;
  }
  nopal::wait_for(left);
  EXPECT_EQ(many, test::at_once * few);
  EXPECT_EQ(sum, test::sum_to(test::at_once * few));
}

TEST_P(thread_identity, keeps_errno_across_joins) {
  everywhere([&](long k) {
    int const mine = 1000 + static_cast<int>(k);
    set_error_number(mine);
    EXPECT_EQ(test::sum(0, n, k), test::sum_to(n));
    EXPECT_EQ(error_number(), mine);
  });
}

TEST_P(thread_identity, keeps_errno_across_waits) {
  everywhere([&](long k) {
    int const mine = 1000 + static_cast<int>(k);
    set_error_number(mine);
    if (k % 2 == 0) {
      nopal::yield();
    } else {
      nopal::sleep_for(20us);
    }
    EXPECT_EQ(error_number(), mine);
    waits_for_fibers(k);
    EXPECT_EQ(error_number(), mine);
  });
}

// A lock that only its thread may release, held across joins by many, each on its own worker: until then the worker runs nothing that wants
// it too.
TEST_P(thread_identity, may_hold_a_mutex_of_the_standard_library_across_joins) {
  std::mutex mutex;
  long inside = 0, all = 0;
  everywhere([&](long k) {
    std::lock_guard const guard{mutex};
    EXPECT_EQ(++inside, 1);
    EXPECT_EQ(test::sum(0, n, k), test::sum_to(n));
    --inside;
    ++all;
  });
  EXPECT_GT(all, 0);
}

TEST_P(thread_identity, is_the_owner_of_a_checked_mutex_after_joins) {
  pthread_mutexattr_t checked;
  ::pthread_mutexattr_init(&checked);
  ::pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t mutex;
  ::pthread_mutex_init(&mutex, &checked);
  everywhere([&](long k) {
    EXPECT_EQ(::pthread_mutex_lock(&mutex), 0);
    EXPECT_EQ(test::sum(0, n, k), test::sum_to(n));
    EXPECT_EQ(::pthread_mutex_lock(&mutex), EDEADLK);  // it has it
    EXPECT_EQ(::pthread_mutex_unlock(&mutex), 0);
  });
  ::pthread_mutex_destroy(&mutex);
  ::pthread_mutexattr_destroy(&checked);
}

TEST_P(thread_identity, may_hold_a_recursive_mutex_at_several_joins) {
  std::recursive_mutex mutex;
  everywhere([&](long k) {
    mutex.lock();
    EXPECT_EQ(test::sum(0, n, k), test::sum_to(n));
    mutex.lock();
    EXPECT_EQ(test::sum(0, n, k + 1), test::sum_to(n));
    mutex.unlock();
    mutex.unlock();
  });
}

/// Handles an exception of its own, forks and joins in the handler, and rethrows it.
void throws_on(long k) {
  try {
    throw std::runtime_error{std::to_string(k)};
  } catch (std::runtime_error const&) {
    EXPECT_EQ(test::sum(0, n, k), test::sum_to(n));
    throw;
  }
}

TEST_P(thread_identity, throws_on_in_a_stolen_half_what_is_handled_there) {
  everywhere([&](long k) {
    std::string caught;
    try {
      nopal::parallel_invoke([] { std::this_thread::yield(); }, [&] { staying_here([&] { throws_on(k); }); });
    } catch (std::runtime_error const& e) {
      caught = e.what();
    }
    EXPECT_EQ(caught, std::to_string(k));
  });
}

TEST_P(thread_identity_stolen, throws_on_in_a_stolen_half_what_is_handled_there) {
  everywhere([&](long k) {
    std::string caught;
    try {
      nopal::parallel_invoke([] {}, [&] { staying_here([&] { throws_on(k); }); });
    } catch (std::runtime_error const& e) {
      caught = e.what();
    }
    EXPECT_EQ(caught, std::to_string(k));
  });
}

TEST_P(thread_identity_stolen, throws_on_after_the_join_what_is_handled_around_it) {
  everywhere([&](long k) {
    std::string caught;
    try {
      throws_on(k);
    } catch (std::runtime_error const& e) {
      caught = e.what();
    }
    EXPECT_EQ(caught, std::to_string(k));
  });
}

}  // namespace

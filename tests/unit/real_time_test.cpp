// A real-time thread waits for a lock, and has taken the CPU of the lock's holder: it must let the holder run. A yield does not.

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/deque/join_word.hpp"

namespace {

using nopal::core::std_sync;

bool stay_on_one_cpu() {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return false;
  for (std::size_t c = 0; c < CPU_SETSIZE; ++c) {
    if (!CPU_ISSET(c, &all)) continue;
    CPU_SET(c, &one);
    return ::sched_setaffinity(0, sizeof one, &one) == 0;
  }
  return false;
}
bool become_real_time() {
  sched_param const p{.sched_priority = 1};
  return ::sched_setscheduler(0, SCHED_FIFO, &p) == 0;
}
long sleeps_of_this_thread() {
  rusage u;
  ::getrusage(RUSAGE_THREAD, &u);
  return u.ru_nvcsw;
}

// hold(f) takes a lock, calls f, and releases the lock. An ordinary thread does so while a real-time thread on the same CPU waits. Returns
// how often the latter has slept during its wait: if never, it would have got the lock only when the kernel throttles real-time threads,
// after a second, or never. -1: this process may not have real-time threads.
long sleeps_while_it_waits(std::function<void(std::function<void()> const&)> const& hold) {
  long slept = -1;
  std::thread ordinary{[&] {
    if (!stay_on_one_cpu()) return;
    enum class state { begins, waits, may_not };
    std::atomic<state> is{state::begins};
    std::thread waiter;
    hold([&] {
      waiter = std::thread{[&] {
        bool const may = become_real_time();
        is = may ? state::waits : state::may_not;
        if (!may) return;
        long const before = sleeps_of_this_thread();
        hold([] {});
        slept = sleeps_of_this_thread() - before;
      }};
      while (is == state::begins) std::this_thread::yield();
    });
    waiter.join();
  }};
  ordinary.join();
  return slept;
}

void expect_sleeps(long n) {
  if (n < 0) GTEST_SKIP() << "this process may not have real-time threads";
  EXPECT_GT(n, 0) << "the waiter has kept the CPU that the lock's holder needed";
}

TEST(real_time, waits_asleep_for_a_lock_bit) {
  std::atomic<std::int64_t> word{0};
  expect_sleeps(sleeps_while_it_waits([&](auto const& f) {
    nopal::core::lock_bit<std_sync, std::int64_t>(word, 1);
    f();
    word.fetch_and(~1, std::memory_order_release);
  }));
}

TEST(real_time, waits_asleep_for_a_deque) {
  nopal::core::basic_spin_lock<std_sync> lock;
  expect_sleeps(sleeps_while_it_waits([&](auto const& f) {
    lock.lock();
    f();
    lock.unlock();
  }));
}

TEST(real_time, waits_asleep_to_record_an_exception) {
  nopal::core::join_word join;
  expect_sleeps(sleeps_while_it_waits([&](auto const& f) { join.record([&](bool) { f(); }); }));
}

}  // namespace

// The end of the process, while pools run: static destructors, exit where it is not expected, threads that outlive main, and shutdown.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "child.hpp"
#include "nopal/nopal.h"
#include "nopal/nopal.hpp"

namespace {

using namespace std::chrono_literals;
using test::ended;
using test::in_child;
using test::say;

long fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}
nopal::task<long> task_fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await nopal::fork(&a, task_fib, n - 1);
  co_await nopal::call(&b, task_fib, n - 2);
  co_await nopal::join;
  co_return a + b;
}

/// A static object whose destructor says so, having called f.
struct last_words {
  std::function<void()> f;
  explicit last_words(std::function<void()> g) : f{std::move(g)} {}
  ~last_words() {
    f();
    say("a static destructor ran\n");
  }
};

void must_use_default_pool() {
  bool right = fib(15) == 610 && nopal::sync_wait(task_fib, 15L) == 610 && nopal::default_pool().submit(fib, 15L).get() == 610;
  nopal::counter left;
  nopal::spawn(left, [] { nopal::yield(); });
  nopal::wait_for(left);
  std::atomic<int> children = 0;
  nopal::scope s;
  for (int k = 0; k < 3; ++k) s.fork([&] { ++children; });
  s.join();
  right = right && children == 3;
  if (!right) std::_Exit(99);
}

void expect_exit(ended const& e, int code, char const* said) {
  EXPECT_EQ(e.code, code) << "signal " << e.signal << ", said: " << e.said;
  EXPECT_NE(e.said.find(said), std::string::npos) << e.said;
}

TEST(lifetime, a_static_destructor_may_use_the_default_pool) {
  expect_exit(in_child([] {
                static last_words const made_before{must_use_default_pool};
                must_use_default_pool();
                static last_words const made_after{must_use_default_pool};
                std::exit(3);
              }),
              3, "a static destructor ran\na static destructor ran\n");
  expect_exit(in_child([] {
                static last_words const makes_it{must_use_default_pool};
                std::exit(3);
              }),
              3, "a static destructor ran\n");
}

TEST(lifetime, a_function_given_to_atexit_may_use_the_default_pool) {
  expect_exit(in_child([] {
                auto const use = [] {
                  must_use_default_pool();
                  say("used\n");
                };
                std::atexit(use);
                must_use_default_pool();
                std::atexit(use);
                std::exit(3);
              }),
              3, "used\nused\n");
}

[[noreturn]] void leave() { std::exit(5); }
nopal::task<void> leaving_task() {
  std::exit(5);
  co_return;
}

/// Each way in which a job may come to call exit, on the default pool.
std::vector<std::function<void()>> const ways{
    [] { nopal::default_pool().run(leave); },
    [] { nopal::sync_wait(leaving_task); },
    [] { nopal::default_pool().submit(leaving_task).get(); },
    [] { nopal::default_pool().submit(leave).get(); },
    [] {
      nopal::counter left;
      nopal::spawn(left, leave);
      nopal::wait_for(left);
    },
    [] { nopal::parallel_invoke([] { leave(); }, [] { nopal::sleep_for(1h); }); },
    [] { nopal::parallel_invoke([] { nopal::sleep_for(1h); }, [] { leave(); }); },
    [] {
      nopal::scope s;
      s.fork([] { leave(); });
      s.join();
    },
    [] {
      std::thread{[] { fib(20); leave(); }}.join();
    },
};

TEST(lifetime, a_job_may_call_exit) {
  for (std::size_t k = 0; k < ways.size(); ++k) {
    SCOPED_TRACE(k);
    expect_exit(in_child([&] {
                  static last_words const words{must_use_default_pool};
                  // Workers that are busy meanwhile.
                  for (int n = 0; n < 3; ++n) nopal::spawn([] { for (;;) fib(18), nopal::yield(); });
                  ways[k]();
                }),
                5, "a static destructor ran\n");
  }
}

TEST(lifetime, a_job_may_leave_without_destructors) {
  EXPECT_EQ(in_child([] { nopal::default_pool().run([] { std::_Exit(6); }); }).code, 6);
  EXPECT_EQ(in_child([] { nopal::default_pool().submit([] { std::quick_exit(6); }).get(); }).code, 6);
  expect_exit(in_child([] {
                std::at_quick_exit([] { must_use_default_pool(), say("used\n"); });
                nopal::counter left;
                nopal::spawn(left, [] { std::quick_exit(6); });
                nopal::wait_for(left);
              }),
              6, "used\n");
}

// A static pool is destroyed by a job of its own, which has called exit: nobody could wait for that job.
TEST(lifetime, a_job_of_a_static_pool_may_call_exit) {
  for (bool const from_outside : {false, true}) {
    SCOPED_TRACE(from_outside);
    expect_exit(in_child([&] {
                  static last_words const words{[] {}};
                  static nopal::pool pool{{.workers = 3}};
                  pool.spawn([] { for (;;) fib(18), nopal::yield(); });
                  pool.spawn([] { nopal::sleep_for(1h); });
                  if (from_outside) pool.run(leave);
                  pool.submit([] { nopal::sync_wait(leaving_task); }).get();
                }),
                5, "a static destructor ran\n");
  }
}

TEST(lifetime, a_job_that_destroys_its_pool_otherwise_ends_the_program) {
  ended const e = in_child([] {
    auto* const pool = new nopal::pool{{.workers = 1}};
    pool->run([&] { delete pool; });
  });
  EXPECT_EQ(e.signal, SIGABRT);
  EXPECT_NE(e.said.find("nopal: a pool was destroyed by a task that runs on it"), std::string::npos) << e.said;
}

TEST(lifetime, main_may_return_beside_threads_that_use_the_default_pool) {
  for (int k = 0; k < 200 && !HasFailure(); ++k) {
    expect_exit(in_child([&] {
                  static last_words const words{[] {}};
                  for (int n = 0; n < 3; ++n) {
                    std::thread{[] { for (;;) must_use_default_pool(); }}.detach();
                  }
                  std::this_thread::sleep_for(std::chrono::microseconds{k * 37 % 2000});
                  std::exit(4);
                }),
                4, "a static destructor ran\n");
  }
}

TEST(lifetime, main_may_return_while_a_fiber_waits) {
  expect_exit(in_child([] {
                static nopal::counter never{1};
                static last_words const words{[] {}};
                nopal::counter started{1};
                nopal::spawn([&] {
                  std::vector<int> const kept(1000);
                  started.done();
                  nopal::wait_for(never);
                });
                nopal::spawn([] { nopal::sleep_for(1h); });
                nopal::wait_for(started);
                std::exit(4);
              }),
              4, "a static destructor ran\n");
  expect_exit(in_child([] {
                static auto* const never = new nopal::counter{1};
                static last_words const words{[] {}};
                nopal::counter started{1};
                nopal::spawn([&] {
                  std::vector<int> const kept(1000);
                  started.done();
                  nopal::wait_for(*never);
                });
                nopal::wait_for(started);
                std::exit(4);
              }),
              4, "a static destructor ran\n");
}

// What the fibers wait for is destroyed with the other static objects, and they go on.
TEST(lifetime, main_may_return_while_fibers_use_static_objects) {
  expect_exit(in_child([] {
                static last_words const words{[] {}};
                static nopal::mutex mutex;
                static nopal::counter counter{1}, counted;
                static nopal::semaphore semaphore{0};
                static nopal::condition_variable changed;
                static nopal::channel<int> channel{1};
                static std::atomic<int> begun{0};
                mutex.lock();
                auto const waits = [](auto f) {
                  nopal::spawn(counted, [f] {
                    ++begun;
                    f();
                  });
                };
                waits([] { mutex.lock(); });
                waits([] { nopal::wait_for(counter); });
                waits([] { semaphore.acquire(); });
                waits([] { channel.pop(); });
                waits([] {
                  nopal::mutex its;
                  std::unique_lock lock{its};
                  changed.wait(lock);
                });
                while (begun != 5 || nopal::default_pool().stats().suspensions < 5) std::this_thread::yield();
                std::exit(4);
              }),
              4, "a static destructor ran\n");
}

std::size_t threads() {
  std::size_t n = 0;
  for ([[maybe_unused]] auto const& t : std::filesystem::directory_iterator{"/proc/self/task"}) ++n;
  return n;
}

void check(bool right, char const* what) {
  if (right) return;
  say(what);
  std::_Exit(98);
}

void expect_success(ended const& e) { EXPECT_EQ(e.code, 0) << "signal " << e.signal << ", said: " << e.said; }

TEST(shutdown, ends_the_threads_and_the_next_use_starts_them_again) {
  expect_success(in_child([] {
    std::size_t const before = threads();
    check(nopal::shutdown(0s).empty(), "there is nothing to end");
    for (int k = 0; k < 20; ++k) {
      nopal::pool& pool = nopal::default_pool();
      nopal::spawn([] { nopal::sleep_for(1ms); });
      must_use_default_pool();
      check(threads() > before, "it has threads");
      check(nopal::shutdown(std::chrono::hours::max()).empty(), "nothing is left");
      check(threads() == before, "its threads have ended");
      check(nopal::shutdown(1ns).empty(), "it has ended already");
      switch (k % 4) {  // by the reference too
        case 0: check(pool.run(fib, 10L) == 55, "run"); break;
        case 1: check(pool.submit(fib, 10L).get() == 55, "submit"); break;
        case 2: {
          nopal::counter left;
          pool.spawn(left, [] { nopal::yield(); });
          nopal::wait_for(left);
          break;
        }
        case 3: check(&nopal::default_pool() == &pool, "it is the same"); break;
      }
    }
  }));
}

TEST(shutdown, waits_for_what_was_submitted) {
  expect_success(in_child([] {
    std::atomic<int> ended = 0;
    nopal::default_pool().detach([&] { nopal::sleep_for(20ms), ++ended; });
    nopal::spawn([&] {
      nopal::sleep_for(20ms);
      nopal::spawn([&] { nopal::sleep_for(20ms), ++ended; });
    });
    check(nopal::shutdown(10min).empty(), "nothing is left");
    check(ended == 2, "both have ended");
  }));
}

TEST(shutdown, waits_for_calls_of_run) {
  expect_success(in_child([] {
    std::atomic<int> step = 0;
    nopal::counter never{1};
    std::thread caller{[&] {
      nopal::default_pool().run([&] {
        step = 1;
        nopal::wait_for(never);
      });
      step = 3;
    }};
    while (step != 1) std::this_thread::yield();
    check(!nopal::shutdown(5ms).empty(), "the call has not ended");
    step = 2;
    never.done();
    check(nopal::shutdown(10min).empty(), "nothing is left");
    caller.join();
    check(step == 3, "the call has ended");
  }));
}

TEST(shutdown, says_what_still_waits) {
  expect_success(in_child([] {
    nopal::counter started{1}, never{1};
    nopal::spawn([&] {
      started.done();
      nopal::wait_for(never);
    });
    nopal::wait_for(started);
    std::string const left = nopal::shutdown(30ms);
    check(left.find("1 fibers and calls of run") != std::string::npos, left.c_str());
    check(left.find("1 native stack waits") != std::string::npos, left.c_str());
    check(left.find("waits for a counter at 0x") != std::string::npos, left.c_str());
    must_use_default_pool();
    never.done();
    check(nopal::shutdown(10min).empty(), "nothing is left");
  }));
}

TEST(shutdown, refuses_a_thread_that_works_for_a_pool) {
  expect_success(in_child([] {
    auto const refused = [] {
      try {
        static_cast<void>(nopal::shutdown(0s));
        return false;
      } catch (std::logic_error const& e) {
        return std::string{e.what()}.find("nopal::shutdown: called by a job") == 0;
      }
    };
    check(nopal::default_pool().run(refused), "in run");
    check(nopal::default_pool().submit(refused).get(), "in submit");
    nopal::pool other{{.workers = 1}};
    check(other.run(refused), "on another pool");
    check(nopal::shutdown(1min).empty(), "nothing is left");
  }));
}

TEST(shutdown, in_c) {
  expect_success(in_child([] {
    must_use_default_pool();
    check(nopal_shutdown(std::numeric_limits<int64_t>::max()) == NOPAL_OK, "ended");
    nopal::counter never{1};
    nopal::spawn([&] { nopal::wait_for(never); });
    check(nopal_shutdown(1'000'000) == NOPAL_TIMEOUT, "a fiber is left");
    check(std::string{nopal_last_error()}.find("nopal::shutdown: the time limit has expired") == 0, nopal_last_error());
    check(nopal_pool_run(nullptr, [](void*) { check(nopal_shutdown(0) == NOPAL_INVALID, "refused"); }, nullptr) == NOPAL_OK, "runs");
    never.done();
    check(nopal_shutdown(std::numeric_limits<int64_t>::max()) == NOPAL_OK, "ended again");
  }));
}

// Threads bring work of each kind while others end the pool again and again: nothing is lost.
TEST(shutdown, loses_nothing_that_comes_meanwhile) {
  expect_success(in_child([] {
    std::atomic<bool> stop = false;
    std::vector<std::thread> enders;
    for (int k = 0; k < 2; ++k) {
      enders.emplace_back([&] {
        while (!stop) {
          static_cast<void>(nopal::shutdown(100ms));
          std::this_thread::sleep_for(100us);
        }
      });
    }
    std::vector<std::thread> users;
    for (int k = 0; k < 3; ++k) {
      users.emplace_back([] {
        for (int n = 0; n < 300; ++n) {
          must_use_default_pool();
          if (n % 3 == 0) std::this_thread::sleep_for(200us);
        }
      });
    }
    for (auto& t : users) t.join();
    stop = true;
    for (auto& t : enders) t.join();
    check(nopal::shutdown(10min).empty(), "nothing is left");
  }));
}

}  // namespace

// The end of the process, while pools run: static destructors, exit where it is not expected, threads that outlive main.

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "nopal/nopal.h"
#include "nopal/nopal.hpp"
#include "program.hpp"

namespace {

using namespace std::chrono_literals;
using test::ended;
using test::expect_exit;
using test::fib;
using test::in_child;
using test::must_use_default_pool;
using test::say;

/// A static object. Its destructor calls f and prints.
struct last_words {
  std::function<void()> f;
  explicit last_words(std::function<void()> g) : f{std::move(g)} {}
  ~last_words() {
    f();
    say("a static destructor ran\n");
  }
};

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

/// Each way in which a job may call exit, on the default pool.
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
      std::thread{[] {
        fib(20);
        leave();
      }}.join();
    },
};

TEST(lifetime, a_job_may_call_exit) {
  for (std::size_t k = 0; k < ways.size(); ++k) {
    SCOPED_TRACE(k);
    expect_exit(in_child([&] {
                  static last_words const words{must_use_default_pool};
                  // Workers that are busy until then.
                  for (int n = 0; n < 3; ++n)
                    nopal::spawn([] {
                      for (;;) fib(18), nopal::yield();
                    });
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

nopal::task<void> nothing() { co_return; }

struct ends_its_thread {
  ~ends_its_thread() noexcept(false) { ::pthread_exit(nullptr); }
};

// pthread_exit would unwind the job and end a thread that is not the job's.
TEST(lifetime, a_job_must_not_end_its_thread) {
#if NOPAL_TSAN
  GTEST_SKIP() << "ThreadSanitizer ends the program, since to it a native stack is another thread";
#endif
  auto const ends = [] { ::pthread_exit(nullptr); };
  std::vector<std::function<void()>> const jobs{
      [&] { nopal::default_pool().run(ends); },
      [&] { nopal::default_pool().submit(ends).get(); },
      [&] {
        nopal::sync_wait([&]() -> nopal::task<void> {
          ends();
          co_return;
        });
      },
      [&] {
        nopal::counter left;
        nopal::spawn(left, ends);
        nopal::wait_for(left);
      },
      [&] { nopal::parallel_invoke(ends, [] {}); },
      [&] { nopal::parallel_invoke([] { nopal::sleep_for(1ms); }, ends); },
      [&] {
        nopal::scope s;
        s.fork(ends);
        s.join();
      },
      [] {
        nopal::default_pool().run([] {
          ::pthread_cancel(::pthread_self());
          ::pthread_testcancel();
        });
      },
      [] { nopal_pool_run(nullptr, [](void*) { ::pthread_exit(nullptr); }, nullptr); },
      [] { nopal_parallel_for(0, 100, [](size_t, size_t, void*) { ::pthread_exit(nullptr); }, nullptr); },
      [&] { nopal::pool const pool{{.workers = 1, .on_thread_start = [&](unsigned) { ends(); }}}; },
      [&] { nopal::pool const pool{{.workers = 1, .on_thread_stop = [&](unsigned) { ends(); }}}; },
      [&] {  // between fork and join
        nopal::sync_wait([&]() -> nopal::task<void> {
          co_await nopal::fork(nothing);
          ends();
          co_await nopal::join;
        });
      },
      [] {
        nopal::fiber_local<ends_its_thread> last;
        nopal::default_pool().submit([&] { last.local(); }).get();
      },
  };
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    SCOPED_TRACE(k);
    ended const e = in_child(jobs[k]);
    EXPECT_EQ(e.signal, SIGABRT) << "code " << e.code;
    EXPECT_NE(e.said.find("nopal: pthread_exit or pthread_cancel in a job"), std::string::npos) << e.said;
  }
}

// A static pool is destroyed by a job of its own, which has called exit: no thread could wait for that job.
TEST(lifetime, a_job_of_a_static_pool_may_call_exit) {
  for (bool const from_outside : {false, true}) {
    SCOPED_TRACE(from_outside);
    expect_exit(in_child([&] {
                  static last_words const words{[] {}};
                  static nopal::pool pool{{.workers = 3}};
                  pool.spawn([] {
                    for (;;) fib(18), nopal::yield();
                  });
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
                  static std::atomic<long> done{0};
                  static last_words const words{[] {
                    for (long const before = done; done < before + 10;) std::this_thread::yield();  // they go on
                  }};
                  for (int n = 0; n < 3; ++n) {
                    std::thread{[] {
                      for (;; ++done) {
                        if (fib(12) != 144) std::_Exit(99);
                      }
                    }}.detach();
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

// What the fibers wait for is destroyed with the other static objects, and they continue.
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

/// Memory that takes the place of what was freed just before, and shows who still writes there.
class in_place_of_freed {
 public:
  void take(std::size_t bytes) {
    for (int k = 0; k < 64; ++k) blocks_.emplace_back(bytes, untouched);
  }
  void check() const {
    for (auto const& block : blocks_)
      test::check(std::ranges::all_of(block, [](unsigned char c) { return c == untouched; }), "freed memory was written\n");
  }

 private:
  static constexpr unsigned char untouched = 0xff;
  std::vector<std::vector<unsigned char>> blocks_;
};

// Exit destroys the graph, then lets its node return, then destroys the pool, which waits for the run.
TEST(lifetime, a_static_graph_may_run_when_it_is_destroyed) {
  expect_exit(in_child([] {
                static auto* const gate = new nopal::counter{1};
                static auto* const freed = new in_place_of_freed;
                static last_words const after_the_run{[] { freed->check(); }};
                static nopal::pool pool{{.workers = 2}};
                static last_words const in_the_run{[] {
                  freed->take(sizeof(nopal::core::graph_state));
                  gate->done();
                }};
                static nopal::graph g;
                nopal::counter begun{1};
                g.node([&] {
                  begun.done();
                  nopal::wait_for(*gate);
                });
                pool.detach([] { g.run(); });
                nopal::wait_for(begun);
                std::exit(4);
              }),
              4, "a static destructor ran\na static destructor ran\n");
}

/// Notes that it was moved.
struct pushed_late {
  static inline std::atomic<bool> was_moved{false};
  int n = 1;
  std::byte rest[1000]{};
  pushed_late() = default;
  pushed_late(pushed_late&& from) noexcept : n{from.n} { was_moved = true; }
};

TEST(lifetime, a_static_channel_may_be_used_when_it_is_destroyed) {
  expect_exit(in_child([] {
                static auto* const gate = new nopal::counter{1};
                static auto* const freed = new in_place_of_freed;
                static last_words const words{[] {
                  freed->take(sizeof(pushed_late));
                  gate->done();
                  while (!pushed_late::was_moved) std::this_thread::yield();
                  freed->check();
                }};
                static nopal::channel<pushed_late> channel{1};
                nopal::spawn([] { channel.pop(); });
                nopal::spawn([] {
                  nopal::wait_for(*gate);
                  channel.push(pushed_late{});
                });
                while (nopal::default_pool().stats().suspensions < 2) std::this_thread::yield();
                std::exit(4);
              }),
              4, "a static destructor ran\n");
}

/// One of each that somebody waits for.
struct awaited {
  nopal::mutex mutex;
  nopal::timed_mutex timed;
  nopal::shared_mutex shared;
  nopal::semaphore semaphore{0};
  nopal::counter counter{1}, failed{1};
  nopal::latch latch{1};
  nopal::barrier<> barrier{2};
  nopal::condition_variable changed;
  nopal::channel<int> channel{1};
};

// Exit destroys what the fibers wait for, and then somebody wakes them.
TEST(lifetime, static_objects_wake_their_waiters_after_they_are_destroyed) {
  expect_exit(in_child([] {
                static awaited* at = nullptr;
                static std::atomic<int> returned{0};
                static int waiters = 0;
                static last_words const words{[] {
                  at->mutex.unlock();
                  at->timed.unlock();
                  at->shared.unlock();
                  at->semaphore.release();
                  at->counter.done();
                  at->failed.done();
                  at->latch.count_down();
                  static_cast<void>(at->barrier.arrive());
                  at->changed.notify_all();
                  at->channel.push(7);
                  while (returned != waiters) std::this_thread::yield();
                }};
                static awaited all;
                at = &all;
                all.mutex.lock();
                all.timed.lock();
                all.shared.lock();
                auto const waits = [](auto f) {
                  ++waiters;
                  nopal::spawn([f] {
                    f();
                    ++returned;
                  });
                };
                waits([] { std::scoped_lock const lock{at->mutex}; });
                waits([] { std::scoped_lock const lock{at->timed}; });
                waits([] { std::scoped_lock const lock{at->shared}; });
                waits([] { at->semaphore.acquire(); });
                waits([] { nopal::wait_for(at->counter); });
                waits([] { at->latch.wait(); });
                waits([] { at->barrier.arrive_and_wait(); });
                waits([] {
                  nopal::mutex its;
                  std::unique_lock lock{its};
                  at->changed.wait(lock);
                });
                waits([] { test::check(at->channel.pop() == 7, "the channel hands over\n"); });
                waits([] {
                  try {
                    nopal::wait_for(at->failed);
                    test::check(false, "the counter keeps its exception\n");
                  } catch (std::runtime_error const& e) {
                    test::check(e.what() == std::string{"of a fiber"}, "the exception is whole\n");
                  }
                });
                while (nopal::default_pool().stats().suspensions < static_cast<unsigned>(waiters)) std::this_thread::yield();
                nopal::spawn(all.failed, [] { throw std::runtime_error{"of a fiber"}; });
                while (all.failed.load() != 1) std::this_thread::yield();
                std::exit(4);
              }),
              4, "a static destructor ran\n");
}

// The thread's values end before the first static object is destroyed.
TEST(lifetime, a_static_destructor_may_use_fiber_locals) {
  for (bool const were_used_before : {false, true}) {
    SCOPED_TRACE(were_used_before);
    expect_exit(in_child([&] {
                  static nopal::fiber_local<std::string> value{std::string(100, 'a')};
                  static nopal::combinable<std::string> of_workers{std::string(100, 'b')};
                  static auto const use = [] {
                    test::check(*value == std::string(100, 'a') && of_workers.local() == std::string(100, 'b'), "they begin anew\n");
                    must_use_default_pool();
                    nopal::default_pool().run([] { test::check(value.has_value(), "a call sees its caller's\n"); });
                    nopal::default_pool().submit([] { *value += 'c'; }).get();
                  };
                  static last_words const words{use};
                  if (were_used_before) use();
                  std::atexit([] { use(); });
                  std::exit(4);
                }),
                4, "a static destructor ran\n");
  }
}

// Exit destroys the fiber_local while a fiber has a value of it. Another one makes its own then.
TEST(lifetime, a_static_fiber_local_may_be_used_when_it_is_destroyed) {
  expect_exit(in_child([] {
                static auto* const freed = new in_place_of_freed;
                static auto* const gate = new nopal::counter{1};
                static auto* const left = new nopal::counter;
                static auto const initial = [] { return std::string(1000, 'a'); };
                static last_words const words{[] {
                  freed->take(initial().size());
                  gate->done();
                  nopal::wait_for(*left);
                  freed->check();
                }};
                static nopal::fiber_local<std::string> value{initial()};
                nopal::counter begun{1};
                nopal::spawn(*left, [&] {
                  value.local() += 'b';
                  begun.done();
                  nopal::wait_for(*gate);
                  test::check(*value == initial() + 'b', "the fiber has its value\n");
                });
                nopal::spawn(*left, [] {
                  nopal::wait_for(*gate);
                  test::check(*value == initial(), "another one gets the initial value\n");
                });
                nopal::wait_for(begun);
                std::exit(4);
              }),
              4, "a static destructor ran\n");
}

}  // namespace

// The text of a report: functions, owners, cycles, values, threads.
// Needs the companion debug.

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "nopal/after.hpp"
#include "nopal/channel.hpp"
#include "nopal/fiber.hpp"
#include "nopal/mutex.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/shared_future.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"
#include "reports.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::counter;
using nopal::fiber_name;
using nopal::spawn;
using nopal::wait_for;
using test::has;
using test::report;

std::string at(char const* what, void const* object) {
  std::array<char, 96> text;
  std::snprintf(text.data(), text.size(), "%s at %p", what, object);
  return text.data();
}

/// The part of the report about `who`: its line, and the indented lines below.
std::string part_of(std::string const& text, std::string const& who) {
  std::size_t const found = text.find(who);
  if (found == text.npos) return {};
  std::size_t const begin = text.rfind('\n', found) + 1;
  std::size_t end = text.find('\n', found);
  while (end != text.npos && text.compare(end + 1, 4, "    ") == 0) end = text.find('\n', end + 1);
  return text.substr(begin, end - begin);
}

/// The last line, if it describes a cycle.
std::string round_of(std::string const& text) {
  std::size_t const found = text.find("these wait for each other: ");
  return found == text.npos ? std::string{} : text.substr(found);
}

void const* here() { return reinterpret_cast<void const*>(nopal::core::self()); }

/// Ends a cycle of mutexes, which no program can do: unlocks on behalf of another stack, which waits, and then does not unlock itself.
void unlock_for(void const* owner, nopal::mutex& m) {
  --const_cast<nopal::core::stack*>(static_cast<nopal::core::stack const*>(owner))->mutexes;
  reinterpret_cast<nopal::core::basic_mutex<nopal::core::stack_waits>&>(m).unlock(reinterpret_cast<std::uintptr_t>(owner));
}

struct accounts {
  nopal::mutex first, second;
  nopal::semaphore locked{0}, go{0};
  void const* owner_of_first = nullptr;
};

[[gnu::noinline]] void from_first_to_second(accounts& a) {
  a.first.lock();
  a.owner_of_first = here();
  a.locked.release();
  a.go.acquire();
  a.second.lock();
  a.second.unlock();  // the first was unlocked in our name
}
[[gnu::noinline]] void from_second_to_first(accounts& a) {
  a.second.lock();
  a.locked.release();
  a.go.acquire();
  a.first.lock();
  a.first.unlock();
  a.second.unlock();
}

TEST(report, says_that_two_wait_for_each_other) {
  nopal::pool pool{{.workers = 2}};
  accounts a;
  counter left;
  pool.run([&] {
    spawn(left, [&] {
      fiber_name const me{"giver"};
      from_first_to_second(a);
    });
    spawn(left, [&] {
      fiber_name const me{"taker"};
      from_second_to_first(a);
    });
  });
  for (int k = 0; k < 2; ++k) a.locked.acquire();
  a.go.release(2);
  std::string const text = report(pool, {"2 native stacks wait\n", "these wait for each other: "});
  EXPECT_TRUE(has(part_of(text, "(giver) waits"), at(" waits for a mutex", &a.second))) << text;
  EXPECT_TRUE(has(part_of(text, "(giver) waits"), "in (anonymous namespace)::from_first_to_second(")) << text;
  EXPECT_TRUE(has(part_of(text, "(giver) waits"), "(taker) has it, in (anonymous namespace)::from_second_to_first(")) << text;
  EXPECT_TRUE(has(part_of(text, "(giver) waits"), at(" and waits for a mutex", &a.first))) << text;
  EXPECT_TRUE(has(part_of(text, "(taker) waits"), at(" waits for a mutex", &a.first))) << text;
  EXPECT_TRUE(has(part_of(text, "(taker) waits"), "(giver) has it, in (anonymous namespace)::from_first_to_second(")) << text;
  std::string const round = round_of(text);
  EXPECT_TRUE(has(round, "(giver) waits for" + at(" a mutex", &a.second) + ", which the stack at ")) << text;
  EXPECT_TRUE(has(round, "(taker) waits for" + at(" a mutex", &a.first) + ", which the stack at ")) << text;
  EXPECT_TRUE(has(round, "(giver) has")) << text;
  EXPECT_TRUE(has(round, "(taker) has")) << text;
  unlock_for(a.owner_of_first, a.first);
  wait_for(left);
  EXPECT_EQ(pool.report(), "nothing waits\n");
}

nopal::task<void> holds_and_pops(nopal::mutex& m, nopal::channel<int>& c) {
  auto held = co_await m.lock();
  static_cast<void>(co_await c.pop());
}
nopal::task<void> locks(nopal::mutex& m) { auto held = co_await m.lock(); }
nopal::task<void> pushes(nopal::channel<int>& full) { static_cast<void>(co_await full.push(2)); }
nopal::task<void> acquires(nopal::semaphore& s) { co_await s.acquire(); }
nopal::task<void> sleeps() { co_await nopal::sleep_for(1h); }

/// Such a task has no stack that could be listed.
TEST(report, lists_tasks_that_wait_without_a_stack) {
  nopal::pool pool{{.workers = 2}};
  nopal::mutex m;
  nopal::channel<int> empty{1}, full{1};
  full.push(1);
  nopal::semaphore none{0};
  auto holder = pool.submit(holds_and_pops, std::ref(m), std::ref(empty));
  report(pool, {"0 native stacks wait\n1 task waits without a native stack\n", at(" waits for a value in a channel", &empty)});
  auto locker = pool.submit(locks, std::ref(m));
  auto pusher = pool.submit(pushes, std::ref(full));
  auto acquirer = pool.submit(acquires, std::ref(none));
  std::string const text = report(pool, {"4 tasks wait without a native stack\n"});
  std::string const lock = part_of(text, at(" waits for a mutex", &m));
  EXPECT_TRUE(has(lock, "in (anonymous namespace)::locks(")) << text;
  EXPECT_TRUE(has(lock, " has it, in (anonymous namespace)::holds_and_pops(")) << text;
  EXPECT_TRUE(has(lock, at(" and waits for a value in a channel", &empty))) << text;
  EXPECT_TRUE(has(part_of(text, at(" waits for room in a channel", &full)), "in (anonymous namespace)::pushes(")) << text;
  EXPECT_TRUE(has(part_of(text, at(" waits for a semaphore", &none)), "in (anonymous namespace)::acquires(")) << text;
  empty.push(1);
  holder.get();
  locker.get();
  full.pop();
  pusher.get();
  none.release();
  acquirer.get();
  EXPECT_EQ(pool.report(), "nothing waits\n");
  std::stop_source stop;
  auto sleeper = pool.submit(stop.get_token(), sleeps);
  report(pool, {" waits for a time\n", "in (anonymous namespace)::sleeps(", "    the deadline expires in 3"});
  stop.request_stop();
  EXPECT_THROW(sleeper.get(), nopal::stopped);
  EXPECT_EQ(pool.report(), "nothing waits\n");
}

TEST(report, says_that_a_fiber_and_a_thread_wait_for_each_other) {
  nopal::pool pool{{.workers = 2}};
  accounts a;
  counter left;
  pool.run([&] { spawn(left, [&] { from_first_to_second(a); }); });
  pid_t id = 0;
  std::thread other{[&] {
    ::pthread_setname_np(::pthread_self(), "outsider");
    id = static_cast<pid_t>(::syscall(SYS_gettid));
    from_second_to_first(a);
  }};
  for (int k = 0; k < 2; ++k) a.locked.acquire();
  a.go.release(2);
  std::string const who = "thread " + std::to_string(id) + " (outsider)";
  std::string const text =
      report(pool, {"1 native stack waits\n", "1 thread waits without leaving its stack\n", "these wait for each other: "});
  EXPECT_TRUE(has(part_of(text, who + " waits"), at(" waits for a mutex", &a.first))) << text;
  EXPECT_TRUE(has(part_of(text, who + " waits"), " has it, in (anonymous namespace)::from_first_to_second(")) << text;
  EXPECT_TRUE(has(text, "    " + who + " has it" + at(" and waits for a mutex", &a.first))) << text;
  EXPECT_TRUE(has(round_of(text), who + " has")) << text;
  unlock_for(a.owner_of_first, a.first);
  other.join();
  wait_for(left);
  EXPECT_EQ(pool.report(), "nothing waits\n");
}

TEST(report, says_that_the_owner_of_a_mutex_does_not_wait) {
  nopal::pool pool{{.workers = 2}};
  nopal::mutex m;
  counter left;
  m.lock();
  pool.run([&] {
    spawn(left, [&] {
      m.lock();
      m.unlock();
    });
  });
  report(pool, {at(" waits for a mutex", &m), "    a thread that does not wait, or another pool's native stack, has it\n"});
  m.unlock();
  wait_for(left);
  // And one that a stack of the pool has, which runs.
  std::atomic<bool> locked{false}, go{false};
  pool.run([&] {
    spawn(left, [&] {
      fiber_name const me{"busy"};
      m.lock();
      locked = true;
      while (!go) std::this_thread::yield();
      m.unlock();
    });
  });
  while (!locked) std::this_thread::yield();
  pool.run([&] {
    spawn(left, [&] {
      m.lock();
      m.unlock();
    });
  });
  report(pool, {at(" waits for a mutex", &m), " (busy) has it, and runs, or ended without unlocking it\n"});
  go = true;
  wait_for(left);
}

TEST(report, says_what_channels_wait_for) {
  nopal::pool pool{{.workers = 2}};
  nopal::channel<int> full{1}, empty{1};
  counter left;
  full.push(1);
  pool.run([&] {
    spawn(left, [&] { full.push(2); });
    spawn(left, [&] { empty.pop(); });
  });
  std::thread outside{[&] { empty.pop(); }};
  std::string const text =
      report(pool, {at(" waits for a push into a full channel", &full), at(" waits for a pop from an empty channel", &empty),
                    "1 thread waits without leaving its stack\n"});
  EXPECT_FALSE(has(text, "condition_variable")) << text;
  full.pop();
  empty.close();
  outside.join();
  wait_for(left);
}

TEST(report, says_what_a_counter_holds) {
  nopal::pool pool{{.workers = 2}};
  counter some{5};
  counter left;
  pool.run([&] {
    spawn(left, [&] {
      try {
        wait_for(some, 2);
      } catch (std::runtime_error const&) {
      }
    });
  });
  EXPECT_FALSE(has(report(pool, {"    it is 5, and this waits until it is 2 at most\n"}), "exception"));
  pool.run([&] {
    spawn(some, [] { throw std::runtime_error{"the disk is full"}; });
    spawn(some, [] { throw std::runtime_error{"another"}; });
  });
  while (some.load() != 5) std::this_thread::yield();  // both have thrown: a later exception would be kept for the next waiter
  std::string const text = report(pool, {"    it keeps an exception for its waiter: "});
  EXPECT_TRUE(has(text, "for its waiter: the disk is full\n") || has(text, "for its waiter: another\n")) << text;
  some.done(5);
  wait_for(left);
  // Nothing of it is left for another counter in its place.
  some.add(1);
  pool.run([&] { spawn(left, [&] { wait_for(some); }); });
  EXPECT_FALSE(has(report(pool, {"    it is 1, and this waits until it is 0 at most\n"}), "exception"));
  some.done();
  wait_for(left);
}

[[gnu::noinline]] nopal::task<int> waits_below(counter& c, int depth) {
  int below = 0;
  if (depth > 0) {
    co_await nopal::call(&below, waits_below, c, depth - 1);
  } else {
    co_await c.reaches(0);
  }
  co_return below + 1;
}

TEST(report, names_children_of_scopes_off_a_pool) {
  counter one{1};
  nopal::scope s;
  s.fork([&] { wait_for(one); });
  report(nopal::default_pool(), {"1 native stack waits\n", "names_children_of_scopes_off_a_pool"});
  one.done();
  s.join();
}

TEST(report, names_tasks_jobs_and_closures) {
  nopal::pool pool{{.workers = 2}};
  counter one{1};
  auto task = pool.submit(waits_below, one, 3);
  auto job = pool.submit([&] { wait_for(one); });
  auto later = pool.submit(nopal::after(pool.submit([] {}).share()), [&] { wait_for(one); });
  counter left;
  pool.run([&] { spawn(left, [&] { nopal::parallel_invoke([&] { wait_for(one); }, [] {}); }); });
  std::string const text = report(pool, {"4 native stacks wait\n", "in (anonymous namespace)::waits_below("});
  // Each is named after the function that they are written in.
  std::size_t closures = 0;
  for (std::size_t k = text.find("    in "); k != text.npos; k = text.find("    in ", k + 1)) {
    closures += has(text.substr(k, text.find('\n', k) - k), "names_tasks_jobs_and_closures");
  }
  EXPECT_EQ(closures, 3u) << text;
  one.done();
  EXPECT_EQ(task.get(), 4);
  job.get();
  later.get();
  wait_for(left);
}

TEST(report, says_when_a_deadline_expires) {
  nopal::pool pool{{.workers = 2}};
  nopal::semaphore none{0};
  nopal::mutex m;
  nopal::condition_variable changed;
  counter left;
  pool.run([&] {
    spawn(left, [&] { EXPECT_TRUE(none.try_acquire_for(1000s)); });
    spawn(left, [&] { none.acquire(); });
    spawn(left, [&] {
      std::unique_lock lock{m};
      changed.wait(lock);
    });
    spawn(left, [&] { nopal::sleep_for(1s); });
  });
  std::string const text = report(pool, {at(" waits for a semaphore, with a time limit", &none), at(" waits for a semaphore", &none),
                                         at(" waits for a condition_variable", &changed), " waits for a time\n"});
  std::string const limited = part_of(text, "a semaphore, with a time limit");
  EXPECT_TRUE(has(limited, "    the deadline expires in 99")) << text;
  EXPECT_FALSE(has(part_of(text, " waits for a condition_variable"), "the deadline expires")) << text;
  none.release(2);
  {
    std::lock_guard const guard{m};
    changed.notify_all();
  }
  wait_for(left);
}

TEST(report, says_which_threads_wait_for_jobs) {
  nopal::pool pool{{.workers = 1}};
  nopal::pool another{{.workers = 1}};
  counter one{1};
  auto job = pool.submit([&] { wait_for(one); });
  std::thread waits{[&] {
    ::pthread_setname_np(::pthread_self(), "for a job");
    job.wait();
  }};
  std::thread runs{[&] {
    ::pthread_setname_np(::pthread_self(), "for a run");
    pool.run([&] { wait_for(one); });
  }};
  std::atomic<bool> is_told{false};
  std::thread sleeps{[&] {
    ::pthread_setname_np(::pthread_self(), "asleep");
    while (!is_told) nopal::sleep_for(300ms);
  }};
  report(pool, {"(for a run) waits for a job\n", "(asleep) waits for a time\n"});
  is_told = true;
  report(another, {"(for a run) waits for a job\n"});  // they belong to no pool
  one.done();
  waits.join();
  runs.join();
  sleeps.join();
  EXPECT_EQ(pool.report(), "nothing waits\n");
}

}  // namespace

// fork, in a program with pools: what the child may do, and the messages that it gets.

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "nopal/nopal.hpp"
#include "program.hpp"

// LeakSanitizer looks for pointers in the stacks of the threads that it knows: in the child of a fork those of the parent are not there.
static bool is_child = false;
#if NOPAL_ASAN
extern "C" int __lsan_is_turned_off() { return is_child ? 1 : 0; }
#endif

namespace {

using namespace std::chrono_literals;
using test::check;
using test::ended;
using test::fib;
using test::fib_task;
using test::in_child;

/// Begins the child of a program with pools; it is killed if it hangs.
void begin_child() {
  is_child = true;
  ::alarm(500);
}

/// In a program with pools: forks, runs f in the child, and ends with the child's status.
void ends_as_its_child(std::function<void()> const& f) {
  pid_t const child = ::fork();
  check(child >= 0, "there can be a child");
  if (child == 0) {
    begin_child();
    f();
    std::_Exit(0);
  }
  int status = 0;
  check(::waitpid(child, &status, 0) == child, "the child ends");
  if (WIFSIGNALED(status)) {
    ::signal(WTERMSIG(status), SIG_DFL);
    ::kill(::getpid(), WTERMSIG(status));
    std::this_thread::sleep_for(1h);
  }
  std::_Exit(WEXITSTATUS(status));
}

/// The default pool and one of its own, both in use, in a child process.
struct program {
  nopal::pool own{{.workers = 2}};
  nopal::counter never{1};
  nopal::future<long> unended;
  program() {
    check(own.run(fib, 15L) == 610 && fib(15) == 610, "the parent's pools work");
    own.spawn([this] { nopal::wait_for(never); });
    nopal::spawn([this] { nopal::wait_for(never); });
    unended = own.submit([this] {
      nopal::wait_for(never);
      return 1L;
    });
  }
};

/// The end of a program with pools that forks, if its child runs f.
ended after_fork(std::function<void(program&)> const& f) {
  return in_child([&] {
    auto* const p = new program;
    ends_as_its_child([&] { f(*p); });
  });
}
/// As after_fork, but a job forks.
ended after_fork_in_job(std::function<void(program&)> const& f) {
  return in_child([&] {
    auto* const p = new program;
    p->own.submit([&] { ends_as_its_child([&] { f(*p); }); }).get();
  });
}

void expect_code(ended const& e, int code) { EXPECT_EQ(e.code, code) << "signal " << e.signal << ", said: " << e.said; }
void expect_message(ended const& e) {
  EXPECT_EQ(e.signal, SIGABRT) << "code " << e.code;
  EXPECT_NE(e.said.find("nopal: "), std::string::npos) << e.said;
  EXPECT_NE(e.said.find("fork"), std::string::npos) << e.said;
}

void new_pools_work(program&) {
  nopal::pool mine{{.workers = 3}};
  check(mine.run(fib, 18L) == 2584, "run");
  check(mine.submit(fib_task, 18L).get() == 2584, "submit");
  nopal::counter left;
  for (int k = 0; k < 10; ++k) mine.spawn(left, [] { nopal::sleep_for(1us); });
  nopal::wait_for(left);
  check(mine.report() == "nothing waits\n", mine.report().c_str());
}

TEST(fork_child, exits) {
  for (auto const& way : {after_fork, after_fork_in_job}) {
    expect_code(way([](program&) { std::exit(3); }), 3);
    expect_code(way([](program&) { std::_Exit(3); }), 3);
    expect_code(way([](program&) { std::quick_exit(3); }), 3);
    expect_code(way([](program& p) { p.own.~pool(); }), 0);
  }
}

// exit destroys the parent's static pool in the child.
TEST(fork_child, exits_beside_static_pools) {
  for (bool const in_job : {false, true}) {
    expect_code(in_child([&] {
                  static nopal::pool pool{{.workers = 2}};
                  pool.spawn([] { nopal::sleep_for(1h); });
                  auto const forks = [] { ends_as_its_child([] { std::exit(3); }); };
                  if (in_job) pool.run(forks);
                  forks();
                }),
                3);
  }
}

TEST(fork_child, executes_a_program) {
  for (auto const& way : {after_fork, after_fork_in_job}) {
    expect_code(way([](program&) { ::execl("/bin/sh", "sh", "-c", "exit 9", static_cast<char*>(nullptr)); }), 9);
  }
  expect_code(in_child([] {
                nopal::counter left;
                nopal::spawn(left,
                             [] { ends_as_its_child([] { ::execl("/bin/sh", "sh", "-c", "exit 9", static_cast<char*>(nullptr)); }); });
                nopal::wait_for(left);
              }),
              9);
}

TEST(fork_child, destroys_an_automatic_pool) {
  expect_code(in_child([] {
                int status = 0;
                {
                  nopal::pool pool{{.workers = 2}};
                  pool.spawn([] { nopal::sleep_for(100ms); });
                  pid_t const child = ::fork();
                  if (child != 0) {
                    check(::waitpid(child, &status, 0) == child, "the child ends");
                  } else {
                    begin_child();
                    status = 7;
                  }
                }
                std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 7);
              }),
              7);
}

TEST(fork_child, is_told_when_it_uses_its_parents_pools) {
  std::map<std::string, std::function<void(program&)>> const uses{
      {"run", [](program& p) { p.own.run([] {}); }},
      {"run of a task", [](program& p) { p.own.run(fib_task, 3L); }},
      {"submit", [](program& p) { p.own.submit([] {}).get(); }},
      {"detach", [](program& p) { p.own.detach([] {}); }},
      {"spawn on it", [](program& p) { p.own.spawn([] {}); }},
      {"spawn", [](program&) { nopal::spawn([] {}); }},
      {"parallel_invoke", [](program&) { fib(3); }},
      {"sync_wait", [](program&) { nopal::sync_wait(fib_task, 3L); }},
      {"scope",
       [](program&) {
         nopal::scope s;
         s.fork([] {});
         s.join();
       }},
      {"default_pool", [](program&) { nopal::default_pool(); }},
  };
  for (auto const& [name, use] : uses) {
    SCOPED_TRACE(name);
    expect_message(after_fork(use));
    expect_message(after_fork_in_job(use));
  }
}

TEST(fork_child, may_have_pools_of_its_own) {
  expect_code(after_fork(new_pools_work), 0);
  expect_code(after_fork_in_job(new_pools_work), 0);
  expect_code(in_child([] { ends_as_its_child([] { check(fib(15) == 610, "the first default pool is the child's"); }); }), 0);
}

TEST(fork_child, has_a_default_pool_of_its_own_after_shutdown) {
  for (auto const& way : {after_fork, after_fork_in_job}) {
    expect_code(way([](program& p) {
                  check(nopal::shutdown(1h).empty(), "there is nothing to wait for");
                  check(fib(18) == 2584 && nopal::sync_wait(fib_task, 18L) == 2584, "it works");
                  check(nopal::shutdown(1h).empty(), "nothing is left");
                  new_pools_work(p);
                }),
                0);
  }
}

TEST(fork_child, and_its_parent_share_a_default_pool_that_was_shut_down) {
  expect_code(in_child([] {
                nopal::pool& pool = nopal::default_pool();
                check(fib(15) == 610 && nopal::shutdown(1h).empty(), "it ends");
                pid_t const child = ::fork();
                bool const right = fib(18) == 2584 && pool.run(fib, 15L) == 610;
                if (child == 0) std::_Exit(right ? 5 : 6);
                int status = 0;
                check(::waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5, "it works in the child");
                check(right, "and in the parent");
              }),
              0);
}

// A job forks, and returns on both sides: in the child there is nothing to return to.
TEST(fork_child, is_told_when_its_job_returns) {
#if NOPAL_ASAN || NOPAL_TSAN
  GTEST_SKIP() << "these sanitizers have their own handler for the fault";
#endif
  auto const forks = [] {
    if (pid_t const child = ::fork(); child != 0) {
      int status = 0;
      check(::waitpid(child, &status, 0) == child, "the child ends");
      if (WIFSIGNALED(status)) std::_Exit(WTERMSIG(status) == SIGABRT ? 4 : 5);
      std::_Exit(6);
    }
    begin_child();
  };
  std::map<std::string, std::function<void()>> const jobs{
      {"run", [&] { nopal::default_pool().run(forks); }},
      {"submit", [&] { nopal::default_pool().submit(forks).get(); }},
      {"fiber",
       [&] {
         nopal::counter left;
         nopal::spawn(left, forks);
         nopal::wait_for(left);
       }},
      {"first half", [&] { nopal::parallel_invoke(forks, [] {}); }},
      {"later half", [&] { nopal::parallel_invoke([] {}, forks); }},
      {"child of a scope",
       [&] {
         nopal::scope s;
         s.fork(forks);
         s.join();
       }},
      {"task",
       [&] {
         nopal::default_pool().run([&]() -> nopal::task<void> {
           forks();
           co_return;
         });
       }},
  };
  for (auto const& [name, job] : jobs) {
    SCOPED_TRACE(name);
    ended const e = in_child(job);
    expect_code(e, 4);
    EXPECT_NE(e.said.find("fork"), std::string::npos) << e.said;
  }
}

// Other threads make and end pools, and sleep, at the moment of each fork: no lock stays held.
TEST(fork_child, finds_no_lock_taken) {
  expect_code(in_child([] {
                std::atomic<bool> stop = false;
                std::vector<std::thread> others;
                for (int k = 0; k < 2; ++k) {
                  others.emplace_back([&] {
                    while (!stop) nopal::pool{{.workers = 1}}.run([] {});
                  });
                }
                others.emplace_back([&] {
                  while (!stop) nopal::sleep_for(1us);
                });
                others.emplace_back([&] {
                  while (!stop) static_cast<void>(nopal::shutdown((fib(2), 1h)));
                });
                for (long k = 0; k < test::scaled(200, 4); ++k) {
                  pid_t const child = ::fork();
                  if (child == 0) {
                    begin_child();
                    nopal::sleep_for(1ns);
                    nopal::pool mine{{.workers = 1}};
                    check(mine.run(fib, 5L) == 5, "a pool works");
                    check(mine.report() == "nothing waits\n", mine.report().c_str());
                    static_cast<void>(nopal::shutdown(0s));
                    check(fib(5) == 5, "the default pool works");
                    std::_Exit(0);
                  }
                  int status = 0;
                  check(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child works");
                }
                stop = true;
                for (auto& t : others) t.join();
              }),
              0);
}

}  // namespace

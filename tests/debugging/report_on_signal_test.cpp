// NOPAL_REPORT: a signal prints the reports of all pools, and stops no thread. Each program is a process of its own.
// Needs the companion debug.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../embedding/child.hpp"
#include "nopal/core/report/report.hpp"
#include "nopal/nopal.hpp"

namespace {

using test::ended;
using test::in_child;

bool has(std::string const& text, std::string const& part) { return text.find(part) != text.npos; }

/// Captures stderr from now on, for a process that reads it itself.
class own_stderr {
 public:
  own_stderr() : before_{::dup(STDERR_FILENO)} {
    if (::pipe(ends_.data()) != 0) std::abort();
    ::dup2(ends_[1], STDERR_FILENO);
  }
  ~own_stderr() {
    ::dup2(before_, STDERR_FILENO);
    ::write(STDERR_FILENO, all_.data(), all_.size()) < 0 ? std::abort() : void();
  }
  /// Waits until it holds `text` `times` times.
  void await(char const* text, int times = 1) {
    std::array<char, 4096> some;
    while (count(text) < times) {
      ssize_t const n = ::read(ends_[0], some.data(), some.size());
      if (n <= 0) std::abort();
      all_.append(some.data(), static_cast<std::size_t>(n));
    }
  }
  std::string const& all() const { return all_; }

 private:
  int count(std::string const& text) const {
    int n = 0;
    for (std::size_t at = all_.find(text); at != all_.npos; at = all_.find(text, at + 1)) ++n;
    return n;
  }

  int before_;
  std::array<int, 2> ends_{};
  std::string all_;
};

constexpr char const* end_of_report = "nopal: end of report\n";

[[gnu::noinline]] void wait_for_gate(nopal::counter& gate) {
  nopal::wait_for(gate);
  asm volatile("" ::: "memory");  // so that the call above is no jump
}

void await_waiter(nopal::pool& p) {
  while (!has(p.report(), "waits for a counter")) ::usleep(1000);
}

TEST(report_on_signal, prints_every_pool_and_stops_nobody) {
  ended const e = in_child([] {
    ::setenv("NOPAL_REPORT", "USR1", 1);
    own_stderr err;
    nopal::pool mill{{.workers = 1, .name = "mill"}};
    nopal::pool oven{{.workers = 2, .name = "oven"}};
    nopal::counter gate{1}, left;
    mill.spawn(left, [&] { wait_for_gate(gate); });
    await_waiter(mill);
    std::atomic<bool> runs{true};
    std::atomic<long> rounds{0};
    oven.spawn(left, [&] {
      while (runs) ++rounds;
    });
    ::raise(SIGUSR1);
    err.await(end_of_report);
    ::kill(::getpid(), SIGUSR1);  // and again
    err.await(end_of_report, 2);
    long const then = rounds;
    while (rounds == then) ::usleep(100);
    runs = false;
    gate.done();
    nopal::wait_for(left);
  });
  EXPECT_EQ(e.code, 0) << e.said;
  EXPECT_TRUE(has(e.said, "nopal: NOPAL_REPORT, on signal 10:\n")) << e.said;
  EXPECT_TRUE(has(e.said, "the pool mill: 1 native stack waits\n")) << e.said;
  EXPECT_TRUE(has(e.said, "the pool oven: nothing waits\n")) << e.said;
  EXPECT_TRUE(has(e.said, " waits for a counter at ")) << e.said;
  EXPECT_TRUE(has(e.said, "in (anonymous namespace)::wait_for_gate(")) << e.said;
  EXPECT_TRUE(has(e.said, "    it has waited for 0.")) << e.said;
}

std::atomic<int> handled{0};
std::atomic<bool> had_mask{false};
void on_users_signal(int, siginfo_t* info, void*) {
  handled += info->si_pid == ::getpid() ? 1 : 100;
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  had_mask = ::sigismember(&now, SIGHUP) == 1;
  errno = EDOM;
}

TEST(report_on_signal, calls_the_programs_own_handler) {
  ended const e = in_child([] {
    ::setenv("NOPAL_REPORT", "SIGUSR2", 1);
    struct sigaction own{};
    own.sa_sigaction = on_users_signal;
    own.sa_flags = SA_SIGINFO;
    ::sigemptyset(&own.sa_mask);
    ::sigaddset(&own.sa_mask, SIGHUP);
    ::sigaction(SIGUSR2, &own, nullptr);
    own_stderr err;
    nopal::pool pool{{.workers = 1}};
    ::raise(SIGUSR2);
    if (handled != 1 || !had_mask) std::_Exit(97);
    err.await(end_of_report);
  });
  EXPECT_EQ(e.code, 0) << e.said;
}

// The child of a fork has no thread that prints, and must not make its parent's thread print. A pool that it makes starts one.
TEST(report_on_signal, is_each_processs_own) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer lets no child of a program with threads start its own";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer lets no child of a program with threads start its own";
#endif
#endif
  ended const e = in_child([] {
    ::setenv("NOPAL_REPORT", "USR1", 1);
    own_stderr err;
    nopal::pool pool{{.workers = 1, .name = "parents"}};
    pid_t const child = ::fork();
    if (child == 0) {
      ::raise(SIGUSR1);
      nopal::pool own{{.workers = 1, .name = "childs"}};
      nopal::counter gate{1}, left;
      own.spawn(left, [&] { wait_for_gate(gate); });
      await_waiter(own);
      ::raise(SIGUSR1);
      ::usleep(1);
      // Its report is written to the pipe that the parent reads.
      ::pause();
    }
    err.await(end_of_report);
    if (has(err.all(), "parents") || !has(err.all(), "the pool childs: 1 native stack waits")) std::_Exit(97);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::raise(SIGUSR1);
    err.await(end_of_report, 2);
  });
  EXPECT_EQ(e.code, 0) << e.said;
}

/// The ages in a report, in seconds.
std::vector<double> ages(std::string const& text) {
  std::vector<double> all;
  std::string const before = "it has waited for ";
  for (std::size_t at = text.find(before); at != text.npos; at = text.find(before, at + 1))
    all.push_back(std::stod(text.substr(at + before.size())));
  return all;
}

// A lower bound, which no load breaks: the coarse clock is at most 10 ms behind at either end.
TEST(report, says_for_how_long_stacks_and_threads_have_waited) {
  ended const e = in_child([] {
    nopal::pool pool{{.workers = 1}};
    nopal::counter gate{1}, left;
    pool.spawn(left, [&] { wait_for_gate(gate); });
    std::thread outside{[&] { nopal::wait_for(gate); }};
    while (ages(pool.report()).size() < 2) ::usleep(1000);
    ::usleep(60'000);
    std::vector<double> const all = ages(pool.report());
    bool right = all.size() == 2;
    for (double const age : all) right = right && age >= 0.04 && age < 3600;
    gate.done();
    outside.join();
    nopal::wait_for(left);
    if (!right) std::_Exit(97);
  });
  EXPECT_EQ(e.code, 0) << e.said;
}

TEST(report_on_signal, knows_names_and_numbers) {
  using nopal::core::report_signal;
  EXPECT_EQ(report_signal("USR1"), SIGUSR1);
  EXPECT_EQ(report_signal("SIGUSR2"), SIGUSR2);
  EXPECT_EQ(report_signal("12"), 12);
  EXPECT_EQ(report_signal("QUIT"), SIGQUIT);
  EXPECT_EQ(report_signal("RTMIN"), SIGRTMIN);
  EXPECT_EQ(report_signal("SIGRTMIN+3"), SIGRTMIN + 3);
  EXPECT_EQ(report_signal("RTMAX-1"), SIGRTMAX - 1);
  for (char const* const wrong :
       {"usr1", "KILL", "SIGSEGV", "9", "11", "0", "-1", "10x", "SIG10", "RTMIN-1", "RTMIN+99", "RTMIN+", "999", "SIG"}) {
    try {
      report_signal(wrong);
      ADD_FAILURE() << wrong;
    } catch (std::invalid_argument const& e) {
      EXPECT_TRUE(has(e.what(), std::string{"NOPAL_REPORT = \""} + wrong + '"')) << e.what();
      EXPECT_TRUE(has(e.what(), "such as USR1")) << e.what();
      EXPECT_TRUE(has(e.what(), std::to_string(SIGRTMAX))) << e.what();
    }
  }
}

TEST(report_on_signal, a_bad_name_is_an_exception_where_the_pool_is_made) {
  ended const e = in_child([] {
    ::setenv("NOPAL_REPORT", "NONE", 1);
    try {
      nopal::pool const pool{{.workers = 1}};
    } catch (std::invalid_argument const&) {
      std::_Exit(3);
    }
  });
  EXPECT_EQ(e.code, 3) << e.said;
}

TEST(report_on_signal, nothing_is_installed_where_nobody_asks) {
  ended const e = in_child([] {
    ::unsetenv("NOPAL_REPORT");
    nopal::pool const pool{{.workers = 1}};
    struct sigaction now{};
    ::sigaction(SIGUSR1, nullptr, &now);
    if (now.sa_handler != SIG_DFL) std::_Exit(97);
  });
  EXPECT_EQ(e.code, 0) << e.said;
}

}  // namespace

// Which threads of a program with pools take signals, and the effect.

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "../fib.hpp"
#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "signals.hpp"

namespace {

using test::blocked;
using test::run_as_guest;
using test::set_of;
using test::sleep_ms;
using test::native::fib;

/// Those that a thread causes itself, and SIGPROF.
bool is_own(int s) {
  for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
    if (s == own) return true;
  }
  return false;
}
void expect_only_own_signals(std::vector<bool> const& of, char const* whose) {
  for (int s = 1; s <= SIGRTMAX; ++s) {
    if (s == SIGKILL || s == SIGSTOP || (s > SIGSYS && s < SIGRTMIN)) continue;  // reserved, or the C library's
    if (test::emulated() && s > SIGRTMAX - 2) continue;                          // the emulator's own
    EXPECT_EQ(of[static_cast<std::size_t>(s)], !is_own(s)) << whose << ", signal " << s;
  }
}

TEST(signals, workers_take_none_that_are_the_programs) {
  nopal::pool pool{{.workers = 3}};
  auto const before = blocked();
  for (unsigned i = 0; i < pool.workers(); ++i) {
    expect_only_own_signals(pool.submit([&] { return blocked(); }).get(), "a worker");
  }
  EXPECT_EQ(blocked(), before);
  // A caller that works in a worker's place keeps its own.
  run_as_guest(pool, [&] { EXPECT_EQ(blocked(), before); });
  EXPECT_EQ(blocked(), before);
}

TEST(signals, a_pools_threads_take_their_own_whatever_their_maker_had_blocked) {
  sigset_t all, before;
  ::sigfillset(&all);
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &all, &before), 0);
  {
    nopal::pool pool{{.workers = 2}};
    expect_only_own_signals(pool.submit([] { return blocked(); }).get(), "a worker");
    EXPECT_TRUE(blocked()[SIGSEGV]);
    EXPECT_TRUE(blocked()[SIGTERM]);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

#if !defined(NOPAL_TEST_SANITIZED)  // which has threads of its own

/// The signal masks of a thread from the kernel's files, as there is no other interface: bits by number.
std::uint64_t blocked_in(std::string const& thread) {
  std::ifstream status{"/proc/self/task/" + thread + "/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigBlk:")) return std::stoull(line.substr(7), nullptr, 16);
  }
  return 0;
}

TEST(signals, the_timers_thread_takes_none_that_are_the_programs) {
  if (test::emulated()) GTEST_SKIP() << "the emulator keeps its threads' masks to itself";
  nopal::pool pool{{.workers = 2}};
  auto const before = blocked();
  pool.run([] { nopal::sleep_for(std::chrono::milliseconds{1}); });  // makes the thread
  EXPECT_EQ(blocked(), before);
  int threads = 0;
  for (auto const& one : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string const thread = one.path().filename();
    if (thread == std::to_string(::getpid())) continue;
    std::uint64_t mask = blocked_in(thread);
    for (int k = 0; k < 5000 && (mask >> (SIGSEGV - 1) & 1) != 0; ++k, mask = blocked_in(thread)) sleep_ms(1);  // it is about to begin
    for (int const s : {SIGHUP, SIGINT, SIGUSR1, SIGTERM, SIGCHLD, SIGALRM, SIGRTMAX}) {
      EXPECT_NE(mask >> (s - 1) & 1, 0u) << thread << ' ' << s;
    }
    for (int const s : {SIGSEGV, SIGBUS, SIGPROF}) EXPECT_EQ(mask >> (s - 1) & 1, 0u) << thread << ' ' << s;
    ++threads;
  }
  EXPECT_EQ(threads, 3);
}

TEST(signals, a_thread_that_cannot_be_made_leaves_its_makers_mask) {
  // Threads by default with stacks that no address space holds.
  auto const before = blocked();
  pthread_attr_t usual, huge;
  ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(::pthread_attr_init(&huge), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 47), 0);
  {
    nopal::pool pool{{.workers = 1}};
    ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
    EXPECT_THROW((nopal::pool{{.workers = 2}}), std::system_error);
    EXPECT_EQ(blocked(), before);
    run_as_guest(pool, [&] {
      EXPECT_THROW(nopal::sleep_for(std::chrono::milliseconds{1}), std::system_error);
      EXPECT_EQ(blocked(), before);
    });
    ::pthread_setattr_default_np(&usual);
  }
  ::pthread_attr_destroy(&huge);
  ::pthread_attr_destroy(&usual);
}

#endif

// The pool is made before the program sets up its signalfd, as a library's pool would be.
int serve_signals_by_descriptor() {
  constexpr int times = 2000;
  nopal::pool pool{{.workers = 3}};
  pool.run([] { nopal::sleep_for(std::chrono::milliseconds{1}); });  // the timer's thread too
  sigset_t const ours = set_of({SIGUSR1, SIGRTMIN});
  ::pthread_sigmask(SIG_BLOCK, &ours, nullptr);
  int const fd = ::signalfd(-1, &ours, SFD_CLOEXEC);
  std::atomic<bool> done{false};
  auto busy = pool.submit([&] {
    long sum = 0;
    while (!done) sum += fib(15);
    return sum;
  });
  auto const receive = [fd] {
    signalfd_siginfo info{};
    return ::read(fd, &info, sizeof info) == sizeof info ? std::optional{info} : std::nullopt;
  };
  for (int k = 0; k < times; ++k) {  // one by one, since equal ones that wait are one
    if (::kill(::getpid(), SIGUSR1) != 0) return 2;
    if (auto const info = receive(); !info || info->ssi_signo != SIGUSR1) return 3;
  }
  for (int k = 0; k < times; k += 100) {  // of these each waits
    for (int j = 0; j < 100; ++j) {
      if (::sigqueue(::getpid(), SIGRTMIN, {.sival_int = k + j}) != 0) return 4;
    }
    for (int j = 0; j < 100; ++j) {
      if (auto const info = receive(); !info || info->ssi_int != k + j) return 5;
    }
  }
  done = true;
  busy.get();
  return 0;
}

TEST(signals_death, a_program_with_signalfd_gets_all_of_its_signals) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(([&] {
                ::alarm(500);
                std::_Exit(serve_signals_by_descriptor());
              }()),
              testing::ExitedWithCode(0), "");
}

// SIGPROF is delivered to workers, on any stack: half of these between two instructions of a switch.
TEST(signals_death, a_profilers_signals_disturb_nothing) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(([&] {
                static std::atomic<long> come{0};
                struct sigaction count{};
                count.sa_handler = [](int) {
                  int const before = errno;
                  char volatile used[2048];
                  for (std::size_t k = 0; k < sizeof used; k += 64) used[k] = 1;
                  ++come;
                  errno = before;
                };
                count.sa_flags = SA_RESTART;
                ::sigaction(SIGPROF, &count, nullptr);
                nopal::pool pool{{.workers = 4, .stack_size = std::size_t{64} << 10}};
                itimerval const often{{0, 100}, {0, 100}};
                ::setitimer(ITIMER_PROF, &often, nullptr);
                auto const until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
                while (come < 200 || std::chrono::steady_clock::now() < until) {
                  long sum = 0;
                  pool.run([&] {
                    nopal::counter all{50};
                    for (int k = 0; k < 50; ++k) {
                      nopal::spawn([&] {
                        nopal::yield();
                        all.done();
                      });
                    }
                    nopal::scope s;
                    s.fork([&] { sum = fib(12); });
                    nopal::wait_for(all);
                    s.join();
                  });
                  if (sum != 144) std::_Exit(1);
                }
                std::_Exit(0);
              }()),
              testing::ExitedWithCode(0), "");
}

}  // namespace

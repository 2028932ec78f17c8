// Signals in a program with pools: what comes of those that the stack-overflow handler sees and are none of its own, where handlers
// run, and which threads take signals at all.

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::parallel_invoke;

constexpr std::size_t kib = 1024;
void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds{ms}); }

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (int const s : signals) ::sigaddset(&set, s);
  return set;
}
/// The calling thread's, of all signals by number.
std::vector<bool> blocked() {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  std::vector<bool> of(static_cast<std::size_t>(SIGRTMAX) + 1);
  for (int s = 1; s <= SIGRTMAX; ++s) of[static_cast<std::size_t>(s)] = ::sigismember(&now, s) == 1;
  return of;
}

long fib(long n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

[[gnu::noinline]] std::thread::id this_thread() {
  asm volatile("");
  return std::this_thread::get_id();
}
/// f() once, by the calling thread in a worker's place: for which one of them has to sleep.
template <class F>
void run_as_guest(nopal::pool& pool, F f) {
  auto const caller = this_thread();
  bool done = false;
  while (!done) {
    sleep_ms(1);
    done = pool.run([&] {
      bool const here = this_thread() == caller;
      if (here) f();
      return here;
    });
  }
}

// ---- Who takes signals.

/// Those that a thread brings upon itself, and SIGPROF.
bool is_own(int s) {
  for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
    if (s == own) return true;
  }
  return false;
}
void expect_only_own_signals(std::vector<bool> const& of, char const* whose) {
  for (int s = 1; s <= SIGRTMAX; ++s) {
    if (s == SIGKILL || s == SIGSTOP || (s > SIGSYS && s < SIGRTMIN)) continue;  // nobody's, or the C library's
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

/// The kernel's word on a thread, as it has no other interface: bits by number.
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

// The pool is older than the program's wish to have its signals by signalfd, as a library's would be.
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
  EXPECT_EXIT(
      ([&] {
        ::alarm(60);
        std::_Exit(serve_signals_by_descriptor());
      }()),
      testing::ExitedWithCode(0), "");
}

// SIGPROF does come to workers, on whatever stack they are: half of these between two instructions of a switch.
TEST(signals_death, a_profilers_signals_disturb_nothing) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(
      ([&] {
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
        nopal::pool pool{{.workers = 4, .stack_size = 64 * kib}};
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

#if !defined(NOPAL_TEST_SANITIZED)  // which has handlers and alternate stacks of its own

nopal::pool_options const small{.workers = 1};
std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// ---- What is not the handler's goes on as if there were none.

[[gnu::noinline]] void touch_null() {
  static std::atomic<std::uintptr_t> nowhere{8};
  *reinterpret_cast<int volatile*>(nowhere.load()) = 1;  // NOLINT(performance-no-int-to-ptr)
}
long endless(long n) {
  char volatile used[512];
  for (std::size_t k = 0; k < sizeof used; k += 64) used[k] = 1;
  return n < 0 ? used[0] : endless(n + 1) + used[64];
}

/// The kernel's own entry, which no handler's wrapper in libc delays.
void send_to_this_thread(int signal) { ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal); }

using sender = void (*)(int);
sender const senders[] = {
    [](int s) { ::raise(s); },
    [](int s) { ::kill(::getpid(), s); },
    [](int s) { ::pthread_kill(::pthread_self(), s); },
    [](int s) { ::sigqueue(::getpid(), s, {.sival_int = 1}); },
    send_to_this_thread,
    [](int s) {
      std::thread{[s, to = ::getpid()] { ::kill(to, s); }}.join();
    },
};

/// A death test's program: what it does with a pool, and a limit on its time, since what is tested here may loop for ever.
template <class F>
[[noreturn]] void with_pool(F f) {
  ::alarm(20);
  nopal::pool pool{{.workers = 2}};
  f(pool);
  std::_Exit(1);
}
template <class F>
[[noreturn]] void with_pool_after(int signal, struct sigaction const& first, F f) {
  ::sigaction(signal, &first, nullptr);
  with_pool(f);
}

TEST(signals_death, what_is_sent_takes_effect_at_once) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  for (int const signal : {SIGSEGV, SIGBUS}) {
    for (sender const send : senders) {
      EXPECT_EXIT(with_pool([=](nopal::pool&) {
                    send(signal);
                    sleep_ms(3000);  // the kernel may give what is sent to the process to any of its threads
                  }),
                  testing::KilledBySignal(signal), "");
    }
    EXPECT_EXIT(with_pool([=](nopal::pool& pool) { pool.run([=] { ::raise(signal); }); }), testing::KilledBySignal(signal), "");
    EXPECT_EXIT(with_pool([=](nopal::pool& pool) { pool.submit([=] { ::raise(signal); }).get(); }), testing::KilledBySignal(signal), "");
  }
}

TEST(signals_death, a_fault_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(with_pool([](nopal::pool&) { touch_null(); }), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(with_pool([](nopal::pool& pool) { pool.run(touch_null); }), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(with_pool([](nopal::pool& pool) { pool.submit(touch_null).get(); }), testing::KilledBySignal(SIGSEGV), "");
}

struct sigaction handler_of(void (*f)(int), unsigned flags = 0, std::initializer_list<int> mask = {}) {
  struct sigaction a{};
  a.sa_handler = f;
  a.sa_flags = static_cast<int>(flags);
  a.sa_mask = set_of(mask);
  return a;
}
struct sigaction handler_of(void (*f)(int, siginfo_t*, void*), unsigned flags = 0, std::initializer_list<int> mask = {}) {
  struct sigaction a{};
  a.sa_sigaction = f;
  a.sa_flags = static_cast<int>(flags | SA_SIGINFO);
  a.sa_mask = set_of(mask);
  return a;
}

TEST(signals_death, what_is_sent_is_ignored_if_the_program_ignores_it_and_a_fault_is_not) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  auto const ignored = handler_of(SIG_IGN);
  EXPECT_EXIT(with_pool_after(SIGSEGV, ignored,
                              [](nopal::pool&) {
                                for (sender const send : senders) send(SIGSEGV);
                                std::_Exit(7);
                              }),
              testing::ExitedWithCode(7), "");
  EXPECT_EXIT(with_pool_after(SIGSEGV, ignored, [](nopal::pool& pool) { pool.run(touch_null); }), testing::KilledBySignal(SIGSEGV), "");
  // And our own handler stays.
  EXPECT_DEATH(with_pool_after(SIGSEGV, ignored,
                               [](nopal::pool& pool) {
                                 for (sender const send : senders) send(SIGSEGV);
                                 pool.run(endless, 0L);
                               }),
               "stack overflow: the native stack");
}

TEST(signals_death, the_programs_handler_learns_all_that_the_kernel_says) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  auto const look = handler_of([](int signal, siginfo_t* info, void* where) {
    bool const right = signal == SIGSEGV && info->si_signo == SIGSEGV && info->si_code == SEGV_MAPERR &&
                       info->si_addr == reinterpret_cast<void*>(8) && where != nullptr;  // NOLINT(performance-no-int-to-ptr)
    std::_Exit(right ? 7 : 8);
  });
  EXPECT_EXIT(with_pool_after(SIGSEGV, look, [](nopal::pool& pool) { pool.run(touch_null); }), testing::ExitedWithCode(7), "");
  auto const look_at_sent = handler_of([](int signal, siginfo_t* info, void*) {
    bool const right = signal == SIGBUS && info->si_code == SI_QUEUE && info->si_pid == ::getpid() && info->si_value.sival_int == 5;
    std::_Exit(right ? 7 : 8);
  });
  EXPECT_EXIT(with_pool_after(SIGBUS, look_at_sent, [](nopal::pool&) {
                                ::sigqueue(::getpid(), SIGBUS, {.sival_int = 5});
                                sleep_ms(3000);  // the kernel may give it to any thread
                              }),
              testing::ExitedWithCode(7), "");
  auto const old_kind = handler_of([](int signal) { std::_Exit(signal == SIGSEGV ? 7 : 8); });
  EXPECT_EXIT(with_pool_after(SIGSEGV, old_kind, [](nopal::pool& pool) { pool.run(touch_null); }), testing::ExitedWithCode(7), "");
}

TEST(signals_death, a_handler_for_one_signal_gets_one) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  static std::atomic<int> calls{0};
  auto const once = [](unsigned more) {
    return handler_of(
        [](int) {
          if (++calls > 1) std::_Exit(3);
          static_cast<void>(::write(STDERR_FILENO, "once", 4) < 0);
        },
        SA_RESETHAND | more);
  };
  for (unsigned const more : {0u, static_cast<unsigned>(SA_NODEFER)}) {
    // It returns, and the fault happens again.
    EXPECT_EXIT(with_pool_after(SIGSEGV, once(more), [](nopal::pool& pool) { pool.run(touch_null); }),
                testing::KilledBySignal(SIGSEGV), "once");
    EXPECT_EXIT(with_pool_after(SIGBUS, once(more),
                                [](nopal::pool&) {
                                  ::raise(SIGBUS);
                                  if (calls != 1) std::_Exit(4);
                                  ::raise(SIGBUS);
                                }),
                testing::KilledBySignal(SIGBUS), "once");
  }
  // It raises the signal itself, as those do that write a report.
  EXPECT_EXIT(with_pool_after(SIGSEGV,
                              handler_of(
                                  [](int signal) {
                                    if (++calls > 1) std::_Exit(3);
                                    ::raise(signal);
                                  },
                                  SA_RESETHAND),
                              [](nopal::pool& pool) { pool.run(touch_null); }),
              testing::KilledBySignal(SIGSEGV), "");
  // What it leaves behind when the last pool goes is what the kernel would have left.
  EXPECT_EXIT(
      ([&] {
        ::alarm(20);
        auto const first = once(0);
        ::sigaction(SIGSEGV, &first, nullptr);
        {
          nopal::pool pool{{.workers = 1}};
          ::raise(SIGSEGV);
        }
        struct sigaction now{};
        ::sigaction(SIGSEGV, nullptr, &now);
        std::_Exit(now.sa_handler == SIG_DFL ? 7 : 8);
      }()),
      testing::ExitedWithCode(7), "once");
}

TEST(signals_death, a_handlers_mask_holds_while_it_runs) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  static std::vector<bool> inside(static_cast<std::size_t>(SIGRTMAX) + 1);  // made before the handler runs
  static std::atomic<int> calls{0};
  auto const look = [](int) {
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    for (int s = 1; s <= SIGRTMAX; ++s) inside[static_cast<std::size_t>(s)] = ::sigismember(&now, s) == 1;
    ++calls;
  };
  for (int const signal : {SIGSEGV, SIGBUS}) {
    EXPECT_EXIT(with_pool_after(signal, handler_of(look, 0, {SIGUSR1, SIGTERM}),
                                [=](nopal::pool&) {
                                  auto const before = blocked();
                                  ::raise(signal);
                                  bool const right = inside[SIGUSR1] && inside[SIGTERM] && !inside[SIGUSR2] &&
                                                     inside[static_cast<std::size_t>(signal)];
                                  std::_Exit(right && calls == 1 && blocked() == before ? 7 : 8);
                                }),
                testing::ExitedWithCode(7), "");
    EXPECT_EXIT(with_pool_after(signal, handler_of(look, SA_NODEFER, {SIGUSR2}),
                                [=](nopal::pool&) {
                                  auto const before = blocked();
                                  ::raise(signal);
                                  bool const right = !inside[SIGUSR1] && inside[SIGUSR2] && !inside[static_cast<std::size_t>(signal)];
                                  std::_Exit(right && calls == 1 && blocked() == before ? 7 : 8);
                                }),
                testing::ExitedWithCode(7), "");
  }
}

/// Is a system call that a signal interrupts begun again?
bool read_goes_on() {
  int ends[2];
  if (::pipe(ends) != 0) std::_Exit(2);
  std::atomic<pid_t> reader{0};
  std::atomic<bool> interrupted{false};
  std::thread reads{[&] {
    reader = static_cast<pid_t>(::syscall(SYS_gettid));
    char c;
    while (::read(ends[0], &c, 1) < 0) interrupted = errno == EINTR;
  }};
  while (reader == 0) std::this_thread::yield();
  sleep_ms(50);
  ::syscall(SYS_tgkill, ::getpid(), reader.load(), SIGSEGV);
  sleep_ms(50);
  static_cast<void>(::write(ends[1], "x", 1) < 0);
  reads.join();
  return !interrupted;
}

TEST(signals_death, system_calls_go_on_where_the_handler_wants_that) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  auto const report = [](nopal::pool&) { std::_Exit(read_goes_on() ? 7 : 8); };
  EXPECT_EXIT(with_pool_after(SIGSEGV, handler_of([](int) {}, SA_RESTART), report), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(with_pool_after(SIGSEGV, handler_of([](int) {}), report), testing::ExitedWithCode(8), "");
  EXPECT_EXIT(with_pool_after(SIGSEGV, handler_of(SIG_IGN), report), testing::ExitedWithCode(7), "");
}

thread_local sigjmp_buf* landing = nullptr;
[[gnu::noinline]] bool survives_a_fault() {
  sigjmp_buf here;
  landing = &here;
  if (sigsetjmp(here, 1) != 0) return true;
  touch_null();
  return false;
}

TEST(signals_death, a_handler_may_jump_out) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  for (unsigned const flags : {0u, static_cast<unsigned>(SA_ONSTACK), static_cast<unsigned>(SA_NODEFER)}) {
    EXPECT_EXIT(with_pool_after(SIGSEGV, handler_of([](int) { siglongjmp(*landing, 1); }, flags),
                                [](nopal::pool& pool) {
                                  for (int k = 0; k < 1000; ++k) {
                                    if (!survives_a_fault() || !pool.run(survives_a_fault)) std::_Exit(8);
                                    if (!pool.submit(survives_a_fault).get()) std::_Exit(9);
                                  }
                                  stack_t now{};
                                  if (pool.run([&] { return ::sigaltstack(nullptr, &now); }) != 0 || now.ss_flags != 0) std::_Exit(10);
                                  pool.run(endless, 0L);
                                }),
                testing::KilledBySignal(SIGABRT), "stack overflow: the native stack");
  }
}

// ---- Installed while there are pools.

struct sigaction installed(int signal) {
  struct sigaction now{};
  ::sigaction(signal, nullptr, &now);
  return now;
}

TEST(signals_death, handlers_are_there_as_long_as_a_pool) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(
      ([&] {
        auto const first = handler_of([](int) { std::_Exit(7); }, SA_RESTART, {SIGUSR1});
        ::sigaction(SIGSEGV, &first, nullptr);
        for (int k = 0; k < 3; ++k) {
          std::optional<nopal::pool> one{std::in_place, small}, two{std::in_place, small};
          if (installed(SIGSEGV).sa_handler == first.sa_handler) std::_Exit(1);
          if (installed(SIGBUS).sa_handler == SIG_DFL) std::_Exit(2);
          one.reset();
          if (installed(SIGSEGV).sa_handler == first.sa_handler) std::_Exit(3);
          two.reset();
          auto const now = installed(SIGSEGV);
          if (now.sa_handler != first.sa_handler || (now.sa_flags & SA_RESTART) == 0) std::_Exit(4);
          if (::sigismember(&now.sa_mask, SIGUSR1) != 1) std::_Exit(6);
          if (installed(SIGBUS).sa_handler != SIG_DFL) std::_Exit(5);
        }
        nopal::pool{{.workers = 1}}.run(touch_null);
      }()),
      testing::ExitedWithCode(7), "");
}

struct sigaction below{};

// Somebody else's handler comes, and goes on to ours, for ever.
TEST(signals_death, handlers_may_be_put_above_it) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  auto const chain = [](nopal::pool* alive) {
    static std::atomic<int> calls{0};
    auto const above = handler_of([](int signal, siginfo_t* info, void* where) {
      if (++calls > 3) std::_Exit(9);  // ours above it, and that again
      below.sa_sigaction(signal, info, where);
    });
    static std::optional<nopal::pool> first;
    if (alive == nullptr) first.emplace(small);
    ::sigaction(SIGSEGV, &above, &below);
    first.reset();
    if (installed(SIGSEGV).sa_sigaction != above.sa_sigaction) std::_Exit(8);
    nopal::pool second{{.workers = 1}};
    nopal::pool third{{.workers = 1}};
    second.run(touch_null);
  };
  EXPECT_EXIT(
      ([&] {
        ::alarm(20);
        chain(nullptr);
      }()),
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(with_pool_after(SIGSEGV, handler_of([](int) { std::_Exit(7); }), [&](nopal::pool& pool) { chain(&pool); }),
              testing::ExitedWithCode(7), "");
  // It goes again, and ours is the first once more, and goes too.
  EXPECT_EXIT(
      ([&] {
        auto const above = handler_of([](int) {});
        {
          nopal::pool pool{{.workers = 1}};
          ::sigaction(SIGSEGV, &above, &below);
        }
        ::sigaction(SIGSEGV, &below, nullptr);
        { nopal::pool pool{{.workers = 1}}; }
        std::_Exit(installed(SIGSEGV).sa_handler == SIG_DFL ? 7 : 8);
      }()),
      testing::ExitedWithCode(7), "");
  // A program that takes everything back gets the message again with its next pool.
  EXPECT_DEATH(
      ([&] {
        {
          nopal::pool pool{{.workers = 1}};
          ::signal(SIGSEGV, [](int) {});
        }
        ::signal(SIGSEGV, SIG_DFL);
        nopal::pool{{.workers = 1}}.run(endless, 0L);
      }()),
      "stack overflow: the native stack");
}

// ---- Alternate stacks.

stack_t alternate() {
  stack_t now{};
  ::sigaltstack(nullptr, &now);
  return now;
}
bool has_alternate() { return (alternate().ss_flags & SS_DISABLE) == 0; }
/// The rights of the page that holds it, as /proc/self/maps writes them; nothing if it is not mapped.
std::string rights_of(std::uintptr_t address) {
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t const from = std::stoull(line, nullptr, 16), to = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    if (address >= from && address < to) return line.substr(line.find(' ') + 1, 4);
  }
  return "";
}
std::uintptr_t word(void const* p) { return reinterpret_cast<std::uintptr_t>(p); }

TEST(signals, alternate_stacks_are_large_and_guarded) {
  if (test::emulated()) GTEST_SKIP() << "the emulator keeps the rights of mappings to itself";
  nopal::pool pool{{.workers = 2}};
  for (bool const guest : {false, true}) {
    stack_t s{};
    if (guest) {
      run_as_guest(pool, [&] { s = alternate(); });
    } else {
      s = pool.submit(alternate).get();
    }
    EXPECT_EQ(s.ss_flags, 0);
    EXPECT_GE(s.ss_size, 64 * kib + static_cast<std::size_t>(MINSIGSTKSZ));
    EXPECT_EQ(word(s.ss_sp) % page(), 0u);
    EXPECT_EQ(rights_of(word(s.ss_sp)), "rw-p");
    EXPECT_EQ(rights_of(word(s.ss_sp) + s.ss_size - 1), "rw-p");
    EXPECT_EQ(rights_of(word(s.ss_sp) - 1), "---p");
    EXPECT_EQ(rights_of(word(s.ss_sp) - page()), "---p");
  }
}

TEST(signals, alternate_stacks_of_threads_go_with_them) {
  if (test::emulated()) GTEST_SKIP() << "the emulator keeps the rights of mappings to itself";
  stack_t of_worker{}, of_caller{};
  nopal::pool pool{{.workers = 2}};
  std::thread{[&] {
    EXPECT_FALSE(has_alternate());
    run_as_guest(pool, [] {});
    of_caller = alternate();
    EXPECT_EQ(of_caller.ss_flags, 0);
  }}.join();
  EXPECT_EQ(rights_of(word(of_caller.ss_sp)), "");
  {
    nopal::pool another{{.workers = 1}};
    of_worker = another.submit(alternate).get();
    EXPECT_EQ(rights_of(word(of_worker.ss_sp)), "rw-p");
  }
  EXPECT_EQ(rights_of(word(of_worker.ss_sp)), "");
}

TEST(signals, whoever_destroys_a_pool_gives_its_alternate_stack_back) {
  std::thread{[] {
    for (int k = 0; k < 3; ++k) {
      std::optional<nopal::pool> one{std::in_place, small}, two{std::in_place, small};
      EXPECT_FALSE(has_alternate());
      for (int j = 0; j < 70; ++j) run_as_guest(*one, [] {});
      run_as_guest(*two, [] {});
      std::uintptr_t const low = word(alternate().ss_sp);
      EXPECT_TRUE(has_alternate());
      one.reset();
      EXPECT_FALSE(has_alternate());
      EXPECT_EQ(rights_of(low), "");
      run_as_guest(*two, [] { EXPECT_TRUE(has_alternate()); });  // and gets another one where it works again
      EXPECT_TRUE(has_alternate());
      run_as_guest(*two, [] { nopal::pool{small}.run([] {}); });  // while it works it keeps it
      EXPECT_TRUE(has_alternate());
      two.reset();
      EXPECT_FALSE(has_alternate());
    }
  }}.join();
}

TEST(signals, a_programs_own_alternate_stack_is_left_alone) {
  std::thread{[] {
    std::vector<std::byte> memory(64 * kib);
    stack_t own{};
    own.ss_sp = memory.data();
    own.ss_size = memory.size();
    ASSERT_EQ(::sigaltstack(&own, nullptr), 0);
    {
      nopal::pool pool{{.workers = 1}};
      run_as_guest(pool, [&] { EXPECT_EQ(alternate().ss_sp, own.ss_sp); });
    }
    EXPECT_EQ(alternate().ss_sp, own.ss_sp);
    own.ss_flags = SS_DISABLE;
    ASSERT_EQ(::sigaltstack(&own, nullptr), 0);
    std::optional<nopal::pool> pool{std::in_place, small};
    run_as_guest(*pool, [] { EXPECT_TRUE(has_alternate()); });
    // It takes ours away for a while, in which the pool goes, and puts it back.
    own.ss_flags = 0;
    stack_t ours{};
    ASSERT_EQ(::sigaltstack(&own, &ours), 0);
    pool.reset();
    EXPECT_EQ(alternate().ss_sp, own.ss_sp);
    ASSERT_EQ(::sigaltstack(&ours, nullptr), 0);
    *static_cast<std::byte volatile*>(ours.ss_sp) = std::byte{1};
    pool.emplace(small);
    run_as_guest(*pool, [&] { EXPECT_EQ(alternate().ss_sp, ours.ss_sp); });
    pool.reset();
    EXPECT_FALSE(has_alternate());
  }}.join();
}

TEST(signals_death, a_large_handler_has_room) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  for (bool const guest : {false, true}) {
    EXPECT_EXIT(with_pool_after(SIGUSR1, handler_of(
                                             [](int) {
                                               char volatile used[60 * kib];
                                               for (std::size_t k = 0; k < sizeof used; k += 64) used[k] = 1;
                                             },
                                             SA_ONSTACK),
                                [=](nopal::pool& pool) {
                                  for (int k = 0; k < 100; ++k) {
                                    if (guest) {
                                      run_as_guest(pool, [] { send_to_this_thread(SIGUSR1); });
                                    } else {
                                      pool.submit([] {
                                            sigset_t const one = set_of({SIGUSR1});
                                            ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
                                            send_to_this_thread(SIGUSR1);
                                          })
                                          .get();
                                    }
                                    if (pool.run(fib, 10L) != 55) std::_Exit(8);
                                  }
                                  std::_Exit(7);
                                }),
                testing::ExitedWithCode(7), "");
  }
}

// On the alternate stack. Of SIGSEGV none can be handled while one is.
TEST(signals_death, a_handler_that_needs_too_much_meets_the_guard) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(with_pool_after(SIGSEGV, handler_of([](int) { endless(0); }, SA_ONSTACK), [](nopal::pool& pool) { pool.run(touch_null); }),
              testing::KilledBySignal(SIGSEGV), "");
  EXPECT_DEATH(with_pool_after(SIGUSR1, handler_of([](int) { endless(0); }, SA_ONSTACK),
                               [](nopal::pool& pool) { run_as_guest(pool, [] { send_to_this_thread(SIGUSR1); }); }),
               "a signal handler overflowed its alternate stack, all of its [0-9]+ bytes");
  EXPECT_DEATH(with_pool_after(SIGSEGV, handler_of([](int) { endless(0); }, SA_ONSTACK | SA_NODEFER),
                               [](nopal::pool& pool) { pool.run(touch_null); }),
               "a signal handler overflowed its alternate stack, all of its [0-9]+ bytes");
}

/// Runs f where almost nothing of the native stack is left.
[[gnu::noinline]] long near_the_end(std::uintptr_t low, void (*f)()) {
  char volatile used[64];
  used[0] = 1;
  if (nopal::core::stack_pointer() - low < 1024) {
    f();
    return used[0];
  }
  return near_the_end(low, f) + used[0];
}

// The kernel has no room there for what it pushes for a handler on the native stack, and sends SIGSEGV instead.
TEST(signals_death, a_signal_on_a_full_stack_says_so) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  auto const on_full_stack = [](nopal::pool& pool) {
    send_to_this_thread(0);  // so that the loader need not look for the function there
    run_as_guest(pool, [] { near_the_end(word(nopal::core::state_here()->here->low()), [] { send_to_this_thread(SIGUSR1); }); });
  };
  EXPECT_DEATH(with_pool_after(SIGUSR1, handler_of([](int) {}), on_full_stack),
               "stack overflow: the native stack at 0x[0-9a-f]+ of worker [01] has no room left for a signal's handler, .*SA_ONSTACK");
  EXPECT_EXIT(with_pool_after(SIGUSR1, handler_of([](int) { std::_Exit(7); }, SA_ONSTACK), on_full_stack), testing::ExitedWithCode(7), "");
}

TEST(signals_death, overflow_is_still_told_after_signals_that_were_not) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(with_pool_after(SIGSEGV, handler_of([](int) {}),
                               [](nopal::pool& pool) {
                                 for (sender const send : senders) send(SIGSEGV);
                                 pool.run(endless, 0L);
                               }),
               "stack overflow: the native stack at 0x[0-9a-f]+ of worker [01] is full");
}

// A child of a program with pools has their handlers and none of their threads. What it may do is exec or _exit: and fault, as ever.
TEST(signals_death, a_forked_child_faults_as_any_process) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(with_pool([](nopal::pool& pool) {
                pool.run([] {});
                pid_t const child = ::fork();
                if (child == 0) {
                  if (!has_alternate()) std::_Exit(1);
                  touch_null();
                  std::_Exit(2);
                }
                int status = 0;
                if (::waitpid(child, &status, 0) != child) std::_Exit(3);
                std::_Exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV && pool.run(fib, 10L) == 55 ? 7 : 8);
              }),
              testing::ExitedWithCode(7), "");
}

#endif

}  // namespace

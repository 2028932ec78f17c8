// Signals that the stack-overflow handler sees, but that are not its own, act as without it.

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../scale.hpp"
#include "nopal/pool.hpp"
#include "signal_handlers.hpp"
#include "signals.hpp"

#if !defined(NOPAL_TEST_SANITIZED)  // which has handlers and alternate stacks of its own

namespace {

using test::blocked;
using test::endless;
using test::handler_of;
using test::sender;
using test::senders;
using test::sleep_ms;
using test::touch_null;
using test::with_pool;
using test::with_pool_after;

TEST(signals_death, what_is_sent_takes_effect_at_once) {
  if (test::emulated()) GTEST_SKIP() << "the emulator itself fails an assertion at such signals";
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
  if (test::emulated()) GTEST_SKIP() << "the emulator itself fails an assertion at such signals";
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(with_pool([](nopal::pool&) { touch_null(); }), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(with_pool([](nopal::pool& pool) { pool.run(touch_null); }), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(with_pool([](nopal::pool& pool) { pool.submit(touch_null).get(); }), testing::KilledBySignal(SIGSEGV), "");
}

TEST(signals_death, what_is_sent_is_ignored_if_the_program_ignores_it_and_a_fault_is_not) {
  if (test::emulated()) GTEST_SKIP() << "the emulator itself fails an assertion at such signals";
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
  EXPECT_EXIT(with_pool_after(SIGBUS, look_at_sent,
                              [](nopal::pool&) {
                                ::sigqueue(::getpid(), SIGBUS, {.sival_int = 5});
                                sleep_ms(3000);  // the kernel may give it to any thread
                              }),
              testing::ExitedWithCode(7), "");
  auto const old_kind = handler_of([](int signal) { std::_Exit(signal == SIGSEGV ? 7 : 8); });
  EXPECT_EXIT(with_pool_after(SIGSEGV, old_kind, [](nopal::pool& pool) { pool.run(touch_null); }), testing::ExitedWithCode(7), "");
}

TEST(signals_death, a_handler_for_one_signal_gets_one) {
  if (test::emulated()) GTEST_SKIP() << "the emulator itself fails an assertion at such signals";
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
    EXPECT_EXIT(with_pool_after(SIGSEGV, once(more), [](nopal::pool& pool) { pool.run(touch_null); }), testing::KilledBySignal(SIGSEGV),
                "once");
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
  // What it leaves when the last pool ends is what the kernel would have left.
  EXPECT_EXIT(([&] {
                ::alarm(500);
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
                                  bool const right =
                                      inside[SIGUSR1] && inside[SIGTERM] && !inside[SIGUSR2] && inside[static_cast<std::size_t>(signal)];
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

/// True if a system call that a signal interrupts is restarted.
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
  if (test::emulated()) GTEST_SKIP() << "the emulator restarts system calls in its own way";
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

TEST(signals_death, overflow_is_still_told_after_signals_that_were_not) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(with_pool_after(SIGSEGV, handler_of([](int) {}),
                               [](nopal::pool& pool) {
                                 for (sender const send : senders) send(SIGSEGV);
                                 pool.run(endless, 0L);
                               }),
               "stack overflow: the native stack at 0x[0-9a-f]+ of worker [01] is full");
}

}  // namespace

#endif

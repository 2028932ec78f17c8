// Handlers are installed as long as a pool exists, also if the program installs its own in that time.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <utility>

#include "../scale.hpp"
#include "nopal/pool.hpp"
#include "signal_handlers.hpp"

#if !defined(NOPAL_TEST_SANITIZED)  // which has handlers and alternate stacks of its own

namespace {

using test::endless;
using test::handler_of;
using test::small;
using test::touch_null;
using test::with_pool_after;

struct sigaction installed(int signal) {
  struct sigaction now{};
  ::sigaction(signal, nullptr, &now);
  return now;
}

TEST(signals_death, handlers_are_there_as_long_as_a_pool) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_EXIT(([&] {
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

// A handler of the program, installed later, calls ours, for ever.
TEST(signals_death, handlers_may_be_put_above_it) {
  if (test::emulated()) GTEST_SKIP() << "the emulator itself fails an assertion at such signals";
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
  EXPECT_EXIT(([&] {
                ::alarm(500);
                chain(nullptr);
              }()),
              testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(with_pool_after(SIGSEGV, handler_of([](int) { std::_Exit(7); }), [&](nopal::pool& pool) { chain(&pool); }),
              testing::ExitedWithCode(7), "");
  // It is removed, ours is the first again, and is removed too.
  EXPECT_EXIT(([&] {
                auto const above = handler_of([](int) {});
                {
                  nopal::pool pool{{.workers = 1}};
                  ::sigaction(SIGSEGV, &above, &below);
                }
                ::sigaction(SIGSEGV, &below, nullptr);
                {
                  nopal::pool pool{{.workers = 1}};
                }
                std::_Exit(installed(SIGSEGV).sa_handler == SIG_DFL ? 7 : 8);
              }()),
              testing::ExitedWithCode(7), "");
  // A program that takes everything back gets the message again with its next pool.
  EXPECT_DEATH(([&] {
                 {
                   nopal::pool pool{{.workers = 1}};
                   ::signal(SIGSEGV, [](int) {});
                 }
                 ::signal(SIGSEGV, SIG_DFL);
                 nopal::pool{{.workers = 1}}.run(endless, 0L);
               }()),
               "stack overflow: the native stack");
}

}  // namespace

#endif

// Alternate stacks: which threads have one, how large it is, and the fault of a handler that needs more.

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../fib.hpp"
#include "../scale.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/pool.hpp"
#include "signal_handlers.hpp"
#include "signals.hpp"

#if !defined(NOPAL_TEST_SANITIZED)  // which has handlers and alternate stacks of its own

namespace {

using test::endless;
using test::handler_of;
using test::run_as_guest;
using test::send_to_this_thread;
using test::set_of;
using test::small;
using test::touch_null;
using test::with_pool;
using test::with_pool_after;
using test::native::fib;

constexpr std::size_t kib = 1024;
/// What the kernel stores at a signal, 12 KiB where a CPU has AMX. MINSIGSTKSZ may be no constant, and four times that.
std::size_t largest_frame() {
  constexpr unsigned long at_minsigstksz = 51;  // older headers lack it
  return ::getauxval(at_minsigstksz);
}
std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

stack_t alternate() {
  stack_t now{};
  ::sigaltstack(nullptr, &now);
  return now;
}
bool has_alternate() { return (alternate().ss_flags & SS_DISABLE) == 0; }
/// The permissions of the page that contains it, as in /proc/self/maps; "" if it is not mapped.
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
    EXPECT_GE(s.ss_size, 64 * kib + largest_frame());
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
  std::atomic<int> begun{0};  // both workers have what they map: else one might map its own where the caller's was
  auto const begins = [&] {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  };
  auto first = pool.submit(begins), second = pool.submit(begins);
  first.get();
  second.get();
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
    // The program replaces our stack for a while, in which the pool ends, and then restores it.
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
    EXPECT_EXIT(with_pool_after(SIGUSR1,
                                handler_of(
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

// On the alternate stack. No SIGSEGV can be handled while one is handled.
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

/// Runs f with almost no room left on the native stack.
[[gnu::noinline]] long near_the_end(std::uintptr_t low, void (*f)()) {
  char volatile used[64];
  used[0] = 1;
  if (nopal::core::stack_pointer() - low < 1024) {
    f();
    return used[0];
  }
  return near_the_end(low, f) + used[0];
}

// The kernel has no room on the native stack for the handler's frame, and sends SIGSEGV instead.
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

// The child of a fork has the handlers of its parent's pools and none of their threads. It may exec or _exit; a fault must act as usual.
TEST(signals_death, a_forked_child_faults_as_any_process) {
  if (test::emulated()) GTEST_SKIP() << "the emulator itself fails an assertion at such signals";
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

}  // namespace

#endif

// The floating-point mode changes between the forks of one job: with and without a call of the program that says so.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "floating_point_modes.hpp"
#include "nopal/floating_point.hpp"
#include "nopal/future.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::parallel_invoke;
using nopal::task;
using test::expected_mode;
using test::modes;

constexpr int rounds = 200;

void wait_until(std::atomic<bool> const& a) {
  while (!a.load()) std::this_thread::yield();
}

/// Runs `first` until a thief has begun `later`, which the pool's other worker takes by force or on request.
template <class F, class G>
void stolen(F first, G later) {
  std::atomic<bool> begun{false};
  parallel_invoke(
      [&] {
        first();
        wait_until(begun);
      },
      [&] {
        begun = true;
        later();
      });
}
task<void> waits(std::atomic<bool>& a) {
  wait_until(a);
  co_return;
}

TEST(floating_point_changes, what_is_said_holds_for_the_next_fork) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    for (int i = 0; i < rounds; ++i) {
      expected_mode const& m = modes()[static_cast<std::size_t>(i) % modes().size()];
      m.set();
      nopal::floating_point_mode_changed();
      stolen([] {}, [&] { EXPECT_TRUE(m.holds()) << m.name; });
      EXPECT_TRUE(m.holds());
    }
    modes()[0].set();
  });
  pool.run([]() -> task<void> {
    for (int i = 0; i < rounds; ++i) {
      expected_mode const& m = modes()[static_cast<std::size_t>(i) % modes().size()];
      m.set();
      nopal::floating_point_mode_changed();
      std::atomic<bool> begun{false};
      co_await nopal::fork(waits, std::ref(begun));
      EXPECT_TRUE(m.holds()) << m.name;
      begun = true;
      co_await nopal::join;
      EXPECT_TRUE(m.holds()) << m.name;
    }
    modes()[0].set();
  });
}

TEST(floating_point_changes, what_was_forked_before_keeps_the_mode_before) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    for (int i = 0; i < rounds; ++i) {
      stolen(
          [] {
            nopal::floating_point_mode const up{FE_UPWARD};
            // The inner fork is at a time when the outer later half may still be in the deque. The thief takes that first.
            stolen([] { EXPECT_TRUE(modes()[1].holds()); }, [] { EXPECT_TRUE(modes()[1].holds()); });
          },
          [] { EXPECT_TRUE(modes()[0].holds()); });
      EXPECT_TRUE(modes()[0].holds());
    }
  });
}

task<void> nothing() { co_return; }
task<void> forks_after_a_call() {
  nopal::floating_point_mode const up{FE_UPWARD};
  co_await nopal::call(nothing);  // polls, and offers what is below
  std::atomic<bool> begun{false};
  co_await nopal::fork(waits, std::ref(begun));
  EXPECT_TRUE(modes()[1].holds());
  begun = true;
  co_await nopal::join;
}
TEST(floating_point_changes, a_call_before_the_fork_changes_nothing) {
  nopal::pool pool{{.workers = 2}};
  pool.run([]() -> task<void> {
    for (int i = 0; i < rounds; ++i) {
      co_await nopal::fork(forks_after_a_call);
      EXPECT_TRUE(modes()[0].holds());
      co_await nopal::join;
      EXPECT_TRUE(modes()[0].holds());
    }
  });
}

// A scope's fork saves the mode with the stack that it offers: so it is always right.
TEST(floating_point_changes, the_function_of_a_scope_keeps_its_mode_though_nothing_is_said) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    for (int i = 0; i < rounds; ++i) {
      expected_mode const& m = modes()[static_cast<std::size_t>(i) % modes().size()];
      m.set();
      std::atomic<bool> begun{false};
      nopal::scope s;
      s.fork([&] { wait_until(begun); });
      EXPECT_TRUE(m.holds()) << m.name;
      begun = true;
      s.join();
      EXPECT_TRUE(m.holds()) << m.name;
    }
    modes()[0].set();
  });
}

// After a section with a join that had to wait, the next fork checks the mode.
TEST(floating_point_changes, between_two_parallel_sections_nothing_need_be_said) {
  nopal::pool pool{{.workers = 2}};
  pool.run([] {
    for (int i = 0; i < rounds; ++i) {
      expected_mode const& m = modes()[static_cast<std::size_t>(i) % modes().size()];
      m.set();
      stolen([] {}, [&] { EXPECT_TRUE(m.holds()) << m.name; });
    }
    modes()[0].set();
  });
  pool.run([]() -> task<void> {
    for (int i = 0; i < rounds; ++i) {
      expected_mode const& m = modes()[static_cast<std::size_t>(i) % modes().size()];
      m.set();
      std::atomic<bool> begun{false};
      co_await nopal::fork(waits, std::ref(begun));
      EXPECT_TRUE(m.holds()) << m.name;
      begun = true;
      co_await nopal::join;
    }
    modes()[0].set();
  });
}

// No thief arrives in the first section, so that there is no request. It lasts longer than what is too short for another poll.
TEST(floating_point_changes, a_section_that_nobody_helped_with_counts_too) {
  nopal::pool pool{{.workers = 2}};
  for (int i = 0; i < rounds / 10; ++i) {
    std::atomic<bool> here{false};
    std::atomic<bool> release{false};
    auto other = pool.submit([&] {
      here = true;
      wait_until(release);
    });
    wait_until(here);
    pool.run([&] {
      auto const pause = [] { std::this_thread::sleep_for(std::chrono::microseconds{200}); };
      parallel_invoke(pause, [] {});
      parallel_invoke(pause, [] {});
      modes()[1].set();
      stolen([&] { release = true; }, [] { EXPECT_TRUE(modes()[1].holds()); });
      modes()[0].set();
    });
    other.get();
  }
}

/// Sets its own mode below the fork of another, and restores it, without a call to nopal. False: something that it has forked ran in
/// another one.
bool changes_without_a_word(int depth) {
  expected_mode const& m = modes()[static_cast<std::size_t>(depth) % 4];
  auto const before = nopal::core::control_words::now();
  m.set();
  bool right = true;
  bool first = true;
  if (depth > 0) {
    stolen([&] { first = changes_without_a_word(depth - 1); }, [&] { right = m.holds(); });
  }
  before.adopt();
  return right && first;
}
task<void> changes_without_a_word_too(int depth, std::atomic<bool>& begun, std::atomic<bool>& right) {
  expected_mode const& m = modes()[static_cast<std::size_t>(depth) % 4];
  auto const before = nopal::core::control_words::now();
  m.set();
  if (depth > 0) {
    std::atomic<bool> begun_here{false};
    co_await nopal::fork(changes_without_a_word_too, depth - 1, std::ref(begun_here), std::ref(right));
    if (!m.holds()) right = false;
    begun_here = true;
    co_await nopal::join;
  }
  wait_until(begun);
  before.adopt();
}

// Then a thief may have the old mode. But the program ends at the join: it never continues with a wrong result.
TEST(floating_point_changes, nothing_goes_wrong_in_silence) {
  auto const right_or_told = [](int status) {
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  };
  for (int i = 0; i < 20; ++i) {
    EXPECT_EXIT(
        {
          nopal::pool pool{{.workers = 4}};
          if (!pool.run([] { return changes_without_a_word(3); })) std::_Exit(3);
          std::_Exit(0);
        },
        right_or_told, "");
    EXPECT_EXIT(
        {
          nopal::pool pool{{.workers = 4}};
          std::atomic<bool> begun{true};
          std::atomic<bool> right{true};
          pool.run(changes_without_a_word_too, 3, std::ref(begun), std::ref(right));
          std::_Exit(right ? 0 : 3);
        },
        right_or_told, "");
  }
}

TEST(floating_point_changes, a_first_half_that_keeps_another_mode_ends_the_program) {
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 2}};
        pool.run([] { stolen([] { std::fesetround(FE_UPWARD); }, [] {}); });
      },
      "nopal: .*another floating-point mode.*nopal::floating_point_mode");
}

task<void> waits_and_keeps_another_mode(std::atomic<bool>& a) {
  wait_until(a);
  std::fesetround(FE_UPWARD);
  co_return;
}
TEST(floating_point_changes, a_child_that_keeps_another_mode_ends_the_program) {
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 2}};
        pool.run([]() -> task<void> {
          std::atomic<bool> begun{false};
          co_await nopal::fork(waits_and_keeps_another_mode, std::ref(begun));
          begun = true;
          co_await nopal::join;
        });
      },
      "nopal: .*another floating-point mode.*nopal::floating_point_mode");
}

}  // namespace

// Misuse of latches, barriers, locks and hooks that cannot be reported by an exception ends with a message that says what to write instead.

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <thread>

#include "../scale.hpp"
#include "nopal/barrier.hpp"
#include "nopal/fiber.hpp"
#include "nopal/latch.hpp"
#include "nopal/pool.hpp"
#include "nopal/shared_mutex.hpp"
#include "nopal/timed_mutex.hpp"

namespace {

class misuse_death : public testing::Test {
 protected:
  misuse_death() {
    GTEST_FLAG_SET(death_test_style, test::death_test_style());
    test::races_are_not_reported();
  }
};

/// Destroys what `wait(it)` waits for, while a fiber waits.
template <class T, class Wait>
void end_while_waited_for(T& it, Wait wait) {
  nopal::pool pool{{.workers = 1}};
  pool.run([&] {
    bool begun = false;
    nopal::spawn([&] {
      begun = true;
      wait(*it);
    });
    while (!begun) nopal::yield();
    it.reset();
  });
}

TEST_F(misuse_death, a_latch_that_is_waited_for) {
  std::optional<nopal::latch> it{std::in_place, 1};
  EXPECT_DEATH(end_while_waited_for(it, [](nopal::latch& l) { l.wait(); }),
               "nopal: a latch was destroyed while a fiber, task or thread waits for it");
}

TEST_F(misuse_death, a_barrier_that_is_waited_for) {
  std::optional<nopal::barrier<>> it{std::in_place, 2};
  EXPECT_DEATH(end_while_waited_for(it, [](nopal::barrier<>& b) { b.arrive_and_wait(); }),
               "nopal: a barrier was destroyed while a fiber, task or thread waits at it");
}

TEST_F(misuse_death, a_shared_mutex) {
  EXPECT_DEATH(
      {
        std::optional<nopal::shared_mutex> it{std::in_place};
        it->lock_shared();
        end_while_waited_for(it, [](nopal::shared_mutex& m) { m.lock(); });
      },
      "nopal: a shared_mutex was destroyed while a fiber, task or thread waits for it");
  EXPECT_DEATH(
      {
        nopal::shared_mutex m;
        m.lock_shared();
      },
      "nopal: a shared_mutex was destroyed while it is locked; unlock it first");
  EXPECT_DEATH(
      {
        nopal::shared_mutex m;
        m.lock_shared();
        m.unlock();
      },
      "nopal: a shared_mutex was unlocked that no writer has locked");
  EXPECT_DEATH(
      {
        nopal::shared_mutex m;
        m.lock();
        m.unlock_shared();
      },
      "nopal: a shared_mutex was unlocked by unlock_shared, and no reader has locked it");
}

TEST_F(misuse_death, a_timed_mutex) {
  EXPECT_DEATH(
      {
        std::optional<nopal::timed_mutex> it{std::in_place};
        it->lock();
        end_while_waited_for(it, [](nopal::timed_mutex& m) { m.lock(); });
      },
      "nopal: a timed_mutex was destroyed while a fiber, task or thread waits for it");
  EXPECT_DEATH(
      {
        nopal::timed_mutex m;
        m.lock();
      },
      "nopal: a timed_mutex was destroyed while it is locked; unlock it first");
  EXPECT_DEATH(
      {
        nopal::timed_mutex m;
        m.lock();
        std::thread{[&] { m.unlock(); }}.join();
      },
      "nopal: a timed_mutex was unlocked by another fiber, task or thread than the one that has locked it");
}

TEST_F(misuse_death, a_hook_that_throws) {
  EXPECT_DEATH(nopal::pool({.workers = 1, .on_thread_start = [](unsigned) { throw std::runtime_error{"no"}; }}).run([] {}),
               "nopal: .*on_thread_start");
  EXPECT_DEATH(nopal::pool({.workers = 1, .on_thread_stop = [](unsigned) { throw std::runtime_error{"no"}; }}).run([] {}),
               "nopal: .*on_thread_stop");
}

}  // namespace

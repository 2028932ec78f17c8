#include "nopal/core/wait/event.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "../scale.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::core::event;
using steady = std::chrono::steady_clock;

constexpr std::int64_t long_enough = 60'000'000'000;  // ns: only a lost wake-up lasts so long

TEST(event, is_clear_until_set) {
  event e;
  EXPECT_FALSE(e.is_set());
  e.set();
  EXPECT_TRUE(e.is_set());
}

TEST(event, wait_returns_at_once_when_it_was_set_before) {
  event e;
  e.set();
  e.wait();
  EXPECT_TRUE(e.wait_for(long_enough));
}

TEST(event, wait_for_gives_up) {
  event e;
  EXPECT_FALSE(e.wait_for(0));
  EXPECT_FALSE(e.wait_for(1'000'000));
  e.set();
  EXPECT_TRUE(e.wait_for(0));
}

TEST(event, a_sleeping_waiter_is_woken) {
  event e;
  std::thread setter{[&] {
    std::this_thread::sleep_for(10ms);
    e.set();
  }};
  auto const begin = steady::now();
  while (!e.wait_for(long_enough)) {
  }
  EXPECT_LT(steady::now() - begin, 30s);
  setter.join();
}

TEST(event, all_of_several_waiters_are_woken) {
  event e;
  std::atomic<int> woken{0};
  std::atomic<int> begun{0};
  std::vector<std::thread> waiters;
  auto const begin = steady::now();
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] {
      ++begun;
      while (!e.wait_for(long_enough)) {
      }
      ++woken;
    });
  }
  while (begun != 4) std::this_thread::yield();
  e.set();
  for (std::thread& t : waiters) t.join();
  EXPECT_EQ(woken, 4);
  EXPECT_LT(steady::now() - begin, 30s);
}

TEST(event, what_was_written_before_set_is_there_after_wait_and_the_event_may_go) {
  struct letter {
    long text = 0;
    event arrived;
  };
  std::atomic<letter*> desk{nullptr};
  long const rounds = test::scaled(20'000);
  std::thread writer{[&] {
    for (long i = 1; i <= rounds; ++i) {
      letter* l;
      while ((l = desk.exchange(nullptr)) == nullptr) std::this_thread::yield();
      l->text = i;
      l->arrived.set();
    }
  }};
  long wrong = 0;
  auto const begin = steady::now();
  for (long i = 1; i <= rounds; ++i) {
    auto l = std::make_unique<letter>();
    desk = l.get();
    if (i % 2 == 0) {
      l->arrived.wait();
    } else {
      while (!l->arrived.wait_for(long_enough)) {
      }
    }
    wrong += l->text != i;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(steady::now() - begin, 30s);
  writer.join();
}

}  // namespace

// Pools that share a limit on the workers that run at a time.

#include "nopal/cpu_limit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "nopal/algorithm.hpp"
#include "nopal/block_on.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/stay.hpp"
#include "nopal/task.hpp"

namespace {

// How many bodies ran at a time, at most.
class most_at_once {
 public:
  void body() {
    int const now = ++now_;
    for (int most = most_; most < now && !most_.compare_exchange_weak(most, now);) {
    }
    for (int k = 0; k < 20; ++k) std::this_thread::yield();
    --now_;
    ++bodies_;
  }
  int most() const { return most_; }
  int bodies() const { return bodies_; }

 private:
  std::atomic<int> now_{0}, most_{0}, bodies_{0};
};

TEST(cpu_limit, holds_for_pools_together) {
  if (std::getenv("NOPAL_SCHEDULE") != nullptr) GTEST_SKIP() << "there is no limit under a controlled schedule";
  for (unsigned const all : {1U, 2U, 3U}) {
    nopal::cpu_limit const limit{all};
    EXPECT_EQ(limit.workers(), all);
    most_at_once seen;
    {
      nopal::pool a{{.workers = 3, .limit = limit}};
      nopal::pool b{{.workers = 3, .idle = nopal::idle::busy, .limit = limit}};
      std::vector<std::jthread> callers;
      for (nopal::pool* const p : {&a, &b, &a, &b}) {
        callers.emplace_back([&seen, p] {
          for (int round = 0; round < 5; ++round) {
            p->run([&] { nopal::parallel_for(0, 20, [&](int) { seen.body(); }, nopal::grain{1}); });
            nopal::counter left;
            for (int k = 0; k < 20; ++k) p->spawn(left, [&] { seen.body(); });
            nopal::wait_for(left);
          }
        });
      }
    }
    EXPECT_EQ(seen.bodies(), 4 * 5 * 40);
    EXPECT_LE(seen.most(), static_cast<int>(all));
    EXPECT_EQ(limit.running(), 0U);
  }
}

// With a single permit: what waits for another pool makes way for it, in all ways to wait.
TEST(cpu_limit, lets_in_those_who_are_waited_for) {
  nopal::cpu_limit const limit{1};
  nopal::pool a{{.workers = 2, .limit = limit}};
  nopal::pool b{{.workers = 2, .limit = limit}};
  for (int round = 0; round < 50; ++round) {
    EXPECT_EQ(a.run([&] { return b.run([&] { return a.run([] { return 7; }); }); }), 7);
    EXPECT_EQ(a.submit([&] { return b.submit([] { return 8; }).get(); }).get(), 8);
    nopal::counter done{1};
    a.detach([&] { done.done(); });
    b.run([&] { nopal::wait_for(done); });
  }
}

// A thread that waits on top of a stack does so without a permit, and returns though another has it and waits for what its frames hold.
TEST(cpu_limit, lets_in_those_who_wait_on_top) {
  nopal::cpu_limit const limit{1};
  nopal::pool a{{.workers = 1, .limit = limit, .resume = nopal::resume::home}};
  nopal::pool b{{.workers = 1, .limit = limit}};
  std::mutex m;
  int sum = 0;
  for (int round = 0; round < 30; ++round) {
    std::atomic<bool> holds{false};
    std::atomic<bool> wants{false};
    nopal::counter until_then{1};
    auto first = a.submit([&] {
      std::lock_guard const guard{m};
      holds = true;
      nopal::wait_for(until_then);
      ++sum;
    });
    while (!holds) std::this_thread::yield();
    auto second = b.submit([&] {
      wants = true;
      std::lock_guard const guard{m};
      ++sum;
    });
    while (!wants) std::this_thread::yield();
    until_then.done();
    first.get();
    second.get();
  }
  EXPECT_EQ(sum, 60);
}

// A call that blocks, made by block_on, takes no permit.
TEST(cpu_limit, does_not_count_calls_that_block_elsewhere) {
  nopal::cpu_limit const limit{1};
  nopal::pool a{{.workers = 1, .limit = limit}};
  nopal::pool b{{.workers = 1, .limit = limit}};
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> go{false};
    auto blocked = a.submit([&] { nopal::block_on([&] { go.wait(false); }); });
    b.submit([&] {
       go = true;
       go.notify_all();
     }).get();
    blocked.get();
  }
}

TEST(cpu_limit, lets_a_pool_end) {
  nopal::cpu_limit const limit{1};
  nopal::pool a{{.workers = 1, .limit = limit}};
  std::atomic<bool> ended{false};
  auto long_one = a.submit([&] {
    while (!ended) std::this_thread::yield();  // keeps the only permit
  });
  while (limit.running() == 0) std::this_thread::yield();
  {
    nopal::pool b{{.workers = 3, .limit = limit}};
  }  // its threads wait for a permit, or begin to
  ended = true;
  long_one.get();
}

// Fibers that yield to each other, or to nobody, pass the base of no stack otherwise.
TEST(cpu_limit, lets_in_those_who_wait_for_strands_that_yield) {
  if (std::getenv("NOPAL_SCHEDULE") != nullptr) GTEST_SKIP() << "there is no limit under a controlled schedule";
  for (int const fibers : {1, 2, 3}) {
    nopal::cpu_limit const one{1};
    nopal::pool a{{.workers = 1, .limit = one}};
    nopal::pool b{{.workers = 1, .limit = one}};
    std::atomic<int> yield{0};
    std::atomic<bool> told{false};
    nopal::counter left;
    for (int k = 0; k < fibers; ++k) {
      a.spawn(left, [&] {
        ++yield;
        while (!told) nopal::yield();
      });
    }
    while (yield < fibers) std::this_thread::yield();
    b.detach([&] { told = true; });
    nopal::wait_for(left);
  }
}

TEST(cpu_limit, of_none_is_refused) {
  EXPECT_THROW(nopal::cpu_limit{0}, std::invalid_argument);
  nopal::cpu_limit const a{2};
  nopal::cpu_limit const b = a;
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a == nopal::cpu_limit{2});
}

// As a program asks that wants no limit. An int counts the permits.
TEST(cpu_limit, of_more_than_can_be_counted_is_refused) {
  constexpr unsigned most = std::numeric_limits<int>::max();
  EXPECT_EQ(nopal::cpu_limit{most}.workers(), most);
  EXPECT_EQ(nopal::cpu_limit{most}.running(), 0U);
  for (unsigned const more : {most + 1, std::numeric_limits<unsigned>::max()}) {
    try {
      nopal::cpu_limit const limit{more};
      ADD_FAILURE() << "a limit of " << limit.workers();
    } catch (std::invalid_argument const& e) {
      std::string const said = std::to_string(more) + " workers are more than the limit of 2147483647";
      EXPECT_NE(std::string{e.what()}.find(said), std::string::npos) << e.what();
    }
  }
}

}  // namespace

// The names of version 1.0 do what the earlier names did, and these still work.
// Needs the companions simulation and trace.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "nopal/nopal.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::future;

static_assert(std::is_same_v<nopal::span, nopal::trace_span>);
static_assert(std::is_same_v<nopal::named, nopal::fiber_name>);
static_assert(std::is_constructible_v<bool, nopal::shutdown_result> && !std::is_convertible_v<nopal::shutdown_result, bool>);

TEST(names_for_1_0, experimental_options_are_those_of_before) {
  auto const steals = [](nopal::pool_options const& o) {
    nopal::pool p{o};
    for (int k = 0; k < 200; ++k) {
      p.run([] {
        nopal::parallel_invoke(
            [] {
              auto const end = std::chrono::steady_clock::now() + 50us;
              while (std::chrono::steady_clock::now() < end) {
              }
            },
            [] {});
      });
    }
    return p.stats().steals;
  };
  EXPECT_EQ(steals({.workers = 3, .experimental = {.steal = false}}), 0u);
  EXPECT_EQ(steals({.workers = 3, .steal = false}), 0u);
  EXPECT_EQ(steals({.workers = 3, .steal = true, .experimental = {.steal = false}}), 0u);
  auto const always = nopal::schedule::steal_always;
  EXPECT_GT(steals({.workers = 3, .experimental = {.seed = 3, .schedule = always}}), 100u);
  EXPECT_GT(steals({.workers = 3, .schedule = always}), 100u);
  EXPECT_TRUE(nopal::simulated(nopal::pool{{.experimental = {.simulate = "3"}}}).has_value());
  EXPECT_TRUE(nopal::simulated(nopal::pool{{.simulate = "3"}}).has_value());
  EXPECT_THROW((nopal::pool{{.experimental = {.schedule = always, .simulate = "3"}}}), std::invalid_argument);
  EXPECT_THROW((nopal::pool{{.schedule = always, .experimental = {.simulate = "3"}}}), std::invalid_argument);
  auto const unmaps = [](nopal::pool_options const& o) {
    nopal::pool p{o};
    for (int round = 0; round < 3; ++round) {
      nopal::counter go{1}, all;
      for (int k = 0; k < 200; ++k) {
        p.spawn(all, [&] { go.wait(); });
      }
      go.done();
      all.wait();
    }
    return p.stats().unmaps;
  };
  EXPECT_EQ(unmaps({.workers = 2, .experimental = {.reclaim = nopal::reclaim::none}}), 0u);
  EXPECT_EQ(unmaps({.workers = 2, .reclaim = nopal::reclaim::none}), 0u);
}

TEST(names_for_1_0, a_counter_waits) {
  nopal::pool p{{.workers = 2}};
  nopal::counter c;
  for (int k = 0; k < 10; ++k) p.spawn(c, [] { nopal::yield(); });
  c.wait();
  EXPECT_EQ(c.load(), 0);
  c.add(3);
  p.run([&] { c.wait(3); });
  p.spawn(c, [] { throw 7; });
  EXPECT_THROW(c.wait(3), int);
  c.done(3);
}

TEST(names_for_1_0, when_all_waits_for_all) {
  nopal::pool p{{.workers = 2}};
  auto const everywhere = [&](auto const& f) {
    f();
    p.run(f);
  };
  everywhere([&] {
    auto a = p.submit([] {
      nopal::sleep_for(2ms);
      return 1;
    });
    auto b = p.submit([] { return std::string{"two"}; });
    auto c = p.submit([] {});
    nopal::when_all(a, b, c).get();
    EXPECT_TRUE(a.ready() && b.ready() && c.ready());
    EXPECT_EQ(a.get(), 1);
    EXPECT_EQ(b.get(), "two");
    c.get();

    std::vector<future<int>> many;
    for (int k = 0; k < 20; ++k) {
      many.push_back(p.submit([k] {
        if (k % 7 == 3) throw k;
        return k;
      }));
    }
    auto const all = nopal::when_all(many);
    EXPECT_TRUE(std::ranges::all_of(many, [](auto const& f) { return f.ready(); }));
    try {
      all.get();
      ADD_FAILURE();
    } catch (int k) {
      EXPECT_EQ(k, 3);
    }
    for (int k = 0; k < 20; ++k) {
      if (k % 7 == 3) {
        EXPECT_THROW(many[static_cast<std::size_t>(k)].get(), int);
      } else {
        EXPECT_EQ(many[static_cast<std::size_t>(k)].get(), k);
      }
    }
    nopal::when_all(std::vector<future<int>>{}).get();
    future<int> const empty;
    EXPECT_THROW(nopal::when_all(empty), std::logic_error);
  });
}

TEST(names_for_1_0, when_all_for_waits_no_longer) {
  nopal::pool p{{.workers = 2}};
  nopal::counter go{1};
  auto a = p.submit([] { return 1; });
  auto b = p.submit([&] { go.wait(); });
  EXPECT_FALSE(nopal::when_all_for(2ms, a, b));
  std::vector<future<void>> later;
  later.push_back(p.submit([&] { go.wait(); }));
  EXPECT_FALSE(p.run([&] { return nopal::when_all_for(2ms, later); }));
  go.done();
  EXPECT_TRUE(nopal::when_all_for(1h, a, b));
  EXPECT_TRUE(nopal::when_all_for(1h, later));
}

// The default pool is shared by all tests of this program: so all of it must end here.
TEST(names_for_1_0, shutdown_says_whether_all_has_ended) {
  nopal::counter go{1}, fiber;
  nopal::spawn(fiber, [&] { go.wait(); });
  auto const too_early = nopal::shutdown(1ms);
  EXPECT_FALSE(too_early);
  EXPECT_NE(too_early.report().find("the time limit has expired"), std::string::npos);
  std::string const as_before = too_early;
  EXPECT_EQ(as_before, too_early.report());
  EXPECT_FALSE(too_early.empty());
  go.done();
  fiber.wait();
  auto const done = nopal::shutdown(1h);
  EXPECT_TRUE(done);
  EXPECT_EQ(done.report(), "");
  EXPECT_TRUE(done == "");
}

}  // namespace

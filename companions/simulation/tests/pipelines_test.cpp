// Pipelines of given work on simulated machines: how near they are to what no schedule can beat.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "nopal/pipeline.hpp"
#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

struct costs_of_stages {
  nanoseconds source, parallel, serial, in_order;
};

nopal::simulation_report pipeline_of(int items, int tokens, unsigned workers, std::string const& costs, costs_of_stages const& c) {
  return given(std::to_string(workers), costs, [=] {
    int next = 0;
    bool ordered = true;
    nopal::pipeline(
        nopal::tokens{tokens},
        [c, items, k = 0]() mutable -> std::optional<int> {
          if (k == items) return std::nullopt;
          nopal::simulate_work(c.source);
          return k++;
        },
        nopal::stage::parallel{[c](int k) {
          nopal::simulate_work(c.parallel);
          return k;
        }},
        nopal::stage::serial{[c](int k) {
          nopal::simulate_work(c.serial);
          return k;
        }},
        nopal::stage::serial_in_order{[&, c](int k) {
          nopal::simulate_work(c.in_order);
          ordered = ordered && k == next++;
        }});
    EXPECT_TRUE(ordered);
    EXPECT_EQ(next, items);
  });
}

/// The least time: all work by all workers, or by as many as there are tokens; or the dearest stage that takes one item at a time.
nanoseconds bound(int items, int tokens, unsigned workers, costs_of_stages const& c) {
  nanoseconds const item = c.source + c.parallel + c.serial + c.in_order;
  return std::max({items * item / std::min<long>(workers, tokens), items * std::max({c.source, c.serial, c.in_order})});
}

TEST(pipelines, a_dear_parallel_stage_is_shared_by_as_many_as_there_are) {
  costs_of_stages const c{1us, 100us, 1us, 1us};
  for (unsigned const workers : {1U, 2U, 4U, 16U}) {
    nopal::simulation_report const r = pipeline_of(1600, 64, workers, "", c);
    EXPECT_GE(r.working, 1600 * 103us) << workers;
    EXPECT_LE(r.working, 1600 * 104us) << workers;
    EXPECT_LE(r.elapsed, bound(1600, 64, workers, c) * 105 / 100 + 200us) << workers;
  }
}

TEST(pipelines, so_it_is_where_looking_stealing_and_waking_take_time) {
  costs_of_stages const c{1us, 100us, 1us, 1us};
  nopal::simulation_report const r = pipeline_of(1600, 64, 16, "look=60,steal=350,wake=4000,wake_up=25000", c);
  EXPECT_LE(r.elapsed, bound(1600, 64, 16, c) * 115 / 100);
}

// Gates and turns are found as they are at that time: a carrier that finds them as another one, which is ahead, has left them, ends.
TEST(pipelines, short_items_are_shared_too) {
  costs_of_stages const c{20ns, 200ns, 0ns, 20ns};
  nopal::simulation_report const r = pipeline_of(1024, 16, 2, "look=60,steal=350,wake=4000,wake_up=25000", c);
  EXPECT_LE(r.elapsed, bound(1024, 16, 2, c) * 150 / 100);
}

// On more workers than can help, each of which comes and goes.
TEST(pipelines, short_items_are_not_held_up_by_many_workers) {
  costs_of_stages const c{300ns, 2000ns, 0ns, 300ns};
  for (unsigned const workers : {8U, 16U, 32U}) {
    nopal::simulation_report const r = pipeline_of(2000, 16, workers, "look=60,steal=350,wake=4000,wake_up=25000", c);
    EXPECT_LE(r.elapsed, bound(2000, 16, workers, c) * 150 / 100) << workers;
  }
}

TEST(pipelines, the_dearest_serial_stage_is_the_bound) {
  for (costs_of_stages const c : {costs_of_stages{10us, 20us, 1us, 1us}, {1us, 20us, 10us, 1us}, {1us, 20us, 1us, 10us}}) {
    nopal::simulation_report const r = pipeline_of(500, 32, 16, "", c);
    EXPECT_LE(r.elapsed, bound(500, 32, 16, c) * 110 / 100 + 200us);
  }
}

TEST(pipelines, tokens_are_the_bound) {
  costs_of_stages const c{1us, 100us, 1us, 1us};
  nopal::simulation_report const r = pipeline_of(400, 4, 16, "", c);
  EXPECT_GE(r.elapsed, bound(400, 4, 16, c));
  EXPECT_LE(r.elapsed, bound(400, 4, 16, c) * 110 / 100 + 200us);
}

TEST(pipelines, dear_items_after_short_ones_are_shared_by_all) {
  for (unsigned const workers : {2U, 16U}) {
    nopal::simulation_report const r = given(std::to_string(workers), "look=60,steal=350,wake=4000,wake_up=25000", [] {
      int k = 0;
      nopal::pipeline(
          nopal::tokens{64},
          [&]() -> std::optional<int> {
            if (k == 4000) return std::nullopt;
            nopal::simulate_work(20ns);
            return k++;
          },
          nopal::stage::serial_in_order{[](int n) {
            nopal::simulate_work(100ns);
            return n;
          }},
          nopal::stage::parallel{[](int n) {
            if (n % 2000 >= 1840) nopal::simulate_work(100us);
          }});
    });
    nanoseconds const dear = 320 * 100us;
    nanoseconds const shorts = 4000 * 120ns;
    EXPECT_LE(r.elapsed, (dear / workers + shorts) * 115 / 100) << workers;
  }
}

}  // namespace

// From rest, on simulated machines with given clocks: a woken worker wakes others, so that all run after as many wake-ups in a row as the
// logarithm of their number, and not one after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <ranges>

#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;

void tree(int leaves) {
  if (leaves == 1) return nopal::simulate_work(16us);
  nopal::parallel_invoke([=] { tree(leaves / 2); }, [=] { tree(leaves - leaves / 2); });
}

// The time of `work` on a machine on which all workers sleep: the least of some runs, since a worker whose thread is late on a loaded
// machine is late here too.
template <class Work>
std::chrono::nanoseconds from_rest(char const* on, Work work) {
  with_costs const c{"clock=given,report=/dev/null"};
  std::chrono::nanoseconds least = 1h;
  for (int k = 0; k < 5; ++k) {
    nopal::pool p{machine(on)};
    auto const after_a_while = [&](auto f) {
      p.run([&] {
        nopal::simulate_work(1ms);
        f();
      });
      return nopal::simulated(p)->elapsed;
    };
    auto const before = after_a_while([] {});
    least = std::min<std::chrono::nanoseconds>(least, after_a_while(work) - before - 1ms);
  }
  return least;
}

// A loop of `n` iterations that take 10 us each.
auto loop(int n) {
  return [=] { nopal::parallel_for(0, n, [](int) { nopal::simulate_work(10us); }); };
}

// A wake-up takes 29 us: one worker after the other would need more than 0.5 ms, as was measured. When each woke two, these took 245 and
// 440 us.
TEST(wake_ups, spread_as_a_tree) {
  EXPECT_LT(from_rest("64", [] { tree(256); }), 235us);
  EXPECT_LT(from_rest("64", [] { tree(1024); }), 425us);
}

// A loop knows how much it has left. When it woke one worker, which woke others, 1 ms took 176 us and 3 ms 306 us: core/loop/README.md, the
// bound.
TEST(wake_ups, a_loop_wakes_as_many_as_it_has_something_for) {
  EXPECT_LT(from_rest("16", loop(100)), 145us);
  EXPECT_LT(from_rest("16", loop(300)), 268us);  // 0.7 of 16 workers
  EXPECT_LT(from_rest("64", loop(400)), 200us);
  auto const slowly = [](int) {
    nopal::simulate_work(10us);
    return 1;
  };
  EXPECT_LT(from_rest("16", [=] { nopal::transform_reduce(std::views::iota(0, 100), 0, std::plus{}, slowly); }), 155us);
}

// Each woken worker should get 60 us of it.
TEST(wake_ups, a_short_loop_wakes_few) {
  with_costs const c{"clock=given,report=/dev/null"};
  nopal::pool p{machine("64")};
  p.run([] { nopal::simulate_work(3ms); });
  auto const before = nopal::simulated(p)->wakeups;
  p.run(loop(8));
  EXPECT_LE(nopal::simulated(p)->wakeups - before, 3u);
}

}  // namespace

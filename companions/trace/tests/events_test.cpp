// The events in a trace agree with the numbers that the pool counts.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <nopal/nopal.hpp>
#include <string>
#include <thread>
#include <vector>

#include "decoded.hpp"
#include "fib.hpp"
#include "file.hpp"

namespace {

using decoded::type;

void fibers(int n) {
  nopal::counter left;
  for (int i = 0; i < n; ++i) {
    nopal::spawn(left, [i] {
      nopal::yield();
      test::native::fib(i % 10);
    });
  }
  nopal::wait_for(left);
}

struct of_front_end {
  char const* name;
  void (*run)(nopal::pool&);
};
class each_front_end : public testing::TestWithParam<of_front_end> {};
INSTANTIATE_TEST_SUITE_P(trace, each_front_end,
                         testing::Values(of_front_end{"tasks", [](nopal::pool& p) { p.run(test::fib_task, 12); }},
                                         of_front_end{"functions", [](nopal::pool& p) { p.run(test::native::fib, 12); }},
                                         of_front_end{"scopes", [](nopal::pool& p) { p.run(test::scoped::fib, 12); }},
                                         of_front_end{"fibers", [](nopal::pool& p) { p.run(fibers, 40); }},
                                         of_front_end{"loops",
                                                      [](nopal::pool& p) {
                                                        p.run([] {
                                                          nopal::parallel_for(
                                                              0, 1000, [](int i) { test::native::fib(i % 8); }, nopal::grain{1});
                                                        });
                                                      }}),
                         [](auto const& test) { return test.param.name; });

// Runs it on some workers, under a schedule that steals all it can, or a random one; checks the trace against the pool's numbers.
void check_numbers(of_front_end const& f, nopal::pool_options o, unsigned workers = 3) {
  trace_file const file{f.name};
  o.workers = workers;
  o.trace = file.name();
  nopal::stats s;
  {
    nopal::pool pool{o};
    f.run(pool);
    s = pool.stats();
  }
  decoded::trace const t{file.name()};
  EXPECT_EQ(t.count(type::instant, "steal"), s.steals);
  EXPECT_EQ(t.count(type::instant, "stolen"), s.steals);
  EXPECT_EQ(t.count(type::instant, "suspended"), s.suspensions);
  EXPECT_GE(t.count(type::begin, "sleep"), s.sleeps);
  EXPECT_EQ(t.count(type::instant, "events dropped"), 0U);
  std::map<std::string, std::uint64_t> by_thief;
  for (auto const& e : t.named("steal")) {
    ++by_thief[t.name_of(e)];
    EXPECT_NE("worker " + std::to_string(e.numbers.at("victim")), t.name_of(e));
  }
  for (std::size_t k = 0; k < s.per_worker.size(); ++k) EXPECT_EQ(by_thief["worker " + std::to_string(k)], s.per_worker[k].steals);
}

TEST_P(each_front_end, steals_and_suspensions_are_those_of_stats) { check_numbers(GetParam(), {}); }
TEST_P(each_front_end, also_if_all_is_stolen) { check_numbers(GetParam(), {.schedule = nopal::schedule::steal_always}); }
TEST_P(each_front_end, also_at_random) { check_numbers(GetParam(), {.seed = 3, .schedule = nopal::schedule::steal_at_random}); }
TEST_P(each_front_end, also_where_stacks_stay) {
  check_numbers(GetParam(), {.resume = nopal::resume::home, .schedule = nopal::schedule::steal_always});
}

// A worker that waits on top of its stack takes what descends from its join: no other worker can take the inner branch.
TEST(trace, steals_of_who_waits_where_it_is) {
  check_numbers({"waits_where_it_is",
                 [](nopal::pool& p) {
                   p.run([] {
                     std::atomic<bool> outer{false};
                     std::atomic<bool> inner{false};
                     nopal::parallel_invoke(
                         [&] {
                           while (!outer) std::this_thread::yield();
                         },
                         [&] {
                           outer = true;
                           nopal::parallel_invoke(
                               [&] {
                                 while (!inner) std::this_thread::yield();
                               },
                               [&] { inner = true; });
                         });
                   });
                 }},
                {.resume = nopal::resume::home}, 2);
}

TEST_P(each_front_end, slices_are_nested_and_end) {
  trace_file const file{"slices"};
  {
    nopal::pool pool{{.workers = 3, .seed = 5, .schedule = nopal::schedule::steal_at_random, .trace = file.name()}};
    GetParam().run(pool);
  }
  decoded::trace const t{file.name()};
  std::map<std::uint64_t, int> open;
  std::map<std::uint64_t, int> flows;
  for (auto const& e : t.in_order()) {
    int& depth = open[e.track];
    depth += e.type == type::begin ? 1 : e.type == type::end ? -1 : 0;
    EXPECT_GE(depth, 0) << t.name_of(e);
    EXPECT_LE(depth, 2) << t.name_of(e);  // a rest, in which an external caller works
    if (e.flow != 0) ++flows[e.flow];
    if (e.ending_flow != 0) {
      EXPECT_EQ(flows[e.ending_flow]--, 1);
    }
  }
  for (auto const& [track, depth] : open) EXPECT_EQ(depth, 0) << t.tracks.at(track).name;
}

// A fork that is not stolen is not an event, on any front end.
TEST(trace, forks_are_no_events) {
  trace_file const file{"forks"};
  {
    nopal::pool pool{{.workers = 1, .trace = file.name()}};
    pool.run(test::fib_task, 22);
    pool.run(test::native::fib, 22);
    pool.run(test::scoped::fib, 18);
  }
  decoded::trace const t{file.name()};
  EXPECT_EQ(t.count(type::instant, "events dropped"), 0U);
  EXPECT_LT(t.events.size(), 500U);
}

TEST(trace, lanes_hang_below_pool_and_process) {
  trace_file const file{"lanes"};
  nopal::pool{{.workers = 2, .name = "mill", .trace = file.name()}}.run(test::fib_task, 5);
  decoded::trace const t{file.name()};
  int lanes = 0;
  for (auto const& [id, track] : t.tracks) {
    if (!track.name.starts_with("worker ")) continue;
    ++lanes;
    auto const& pool = t.tracks.at(track.parent);
    EXPECT_EQ(pool.name, "pool mill");
    EXPECT_EQ(t.tracks.at(pool.parent).pid, static_cast<std::uint64_t>(::getpid()));
  }
  EXPECT_EQ(lanes, 2);
}

TEST(trace, says_what_is_waited_for_and_where_it_goes_on) {
  trace_file const file{"waits"};
  {
    nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always, .trace = file.name()}};
    pool.run([] {
      nopal::counter c{1};
      nopal::counter done;
      nopal::spawn(done, [&] { nopal::wait_for(c); });
      nopal::spawn(done, [&] { c.done(); });
      nopal::wait_for(done);
    });
  }
  decoded::trace const t{file.name()};
  auto const left = t.named("suspended");
  auto const resumed = t.named("after a counter");
  ASSERT_FALSE(left.empty());
  ASSERT_EQ(left.size(), resumed.size());
  for (auto const& e : left) {
    EXPECT_EQ(e.texts.at("waits_for"), "a counter");
    auto const to = std::find_if(resumed.begin(), resumed.end(), [&](auto const& r) { return r.ending_flow == e.flow; });
    ASSERT_NE(to, resumed.end());
    EXPECT_EQ(to->numbers.at("stack"), e.numbers.at("stack"));
    EXPECT_GE(to->time, e.time);
  }
}

TEST(trace, names_functions) {
  trace_file const file{"functions"};
  {
    nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always, .trace = file.name()}};
    pool.run(test::fib_task, 6);
    pool.run([] { test::native::fib(6); });
    pool.run(fibers, 5);
  }
  decoded::trace const t{file.name()};
  auto const names = [&](char const* slice, char const* part) {
    std::size_t n = 0;
    for (auto const& e : t.named(slice)) {
      auto const it = e.texts.find("function");
      n += it != e.texts.end() && it->second.find(part) != std::string::npos ? 1 : 0;
    }
    return n;
  };
  EXPECT_GT(names("stolen task", "fib_task"), 0U);
  EXPECT_GT(names("stolen branch", "native::fib"), 0U);
  EXPECT_GT(names("fiber", "fibers"), 0U);
}

TEST(trace, submissions_from_inside_and_outside) {
  trace_file const file{"submissions"};
  {
    nopal::pool pool{{.workers = 2, .trace = file.name()}};
    pool.submit(test::native::fib, 3).get();
    pool.run([&] { pool.submit(test::native::fib, 3).get(); });
    nopal::counter c;
    pool.spawn(c, [] {});
    nopal::wait_for(c);
  }
  decoded::trace const t{file.name()};
  std::size_t const from_outside = t.count(type::instant, "job submitted", false);
  EXPECT_GE(from_outside, 1U);
  EXPECT_LE(from_outside, 2U);  // also the job of run, if no worker slept
  EXPECT_EQ(t.count(type::instant, "job submitted"), 1U);
  EXPECT_EQ(t.count(type::instant, "fiber spawned", false), 1U);
  EXPECT_GE(t.count(type::begin, "job") + t.count(type::begin, "job, by its caller"), 2U);
}

// Events that do not fit are dropped, the oldest first, and the trace says how many.
TEST(trace, counts_what_it_drops) {
  trace_file const file{"drops"};
  constexpr std::size_t room = 64;
  {
    nopal::pool pool{{.workers = 1, .trace = file.name(), .trace_events = room}};
    pool.run(fibers, 1000);
  }
  decoded::trace const t{file.name()};
  auto const drops = t.named("events dropped");
  ASSERT_EQ(drops.size(), 1U);
  EXPECT_GT(drops[0].numbers.at("how_many"), 1000U);
  EXPECT_LT(t.events.size(), 2 * room + 2);
  EXPECT_GT(t.count(type::begin, "fiber") + t.count(type::begin, "after yield") + t.events.size(), room / 2);
}

}  // namespace

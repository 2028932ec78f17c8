// Controlled schedules: what a seed decides, and that it decides the same again.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/core/observe/observer.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/fiber.hpp"
#include "nopal/mutex.hpp"
#include "nopal/native.hpp"
#include "nopal/priority.hpp"
#include "nopal/scope.hpp"
#include "nopal/task.hpp"
#include "simulation/src/controlled_schedule.hpp"

namespace {

using nopal::parallel_invoke;
using nopal::task;

/// The workers that have called, in order.
class log {
 public:
  void note(int where) {
    std::lock_guard const guard{mutex_};
    lines_.push_back(where * 100 + static_cast<int>(nopal::this_worker::index()));
  }
  std::vector<int> take() { return std::move(lines_); }

 private:
  std::mutex mutex_;
  std::vector<int> lines_;
};

task<int> tree_of_tasks(log& l, int n) {
  l.note(n);
  if (n < 2) co_return n;
  int a = 0;
  int b = 0;
  co_await nopal::fork(&a, tree_of_tasks, std::ref(l), n - 1);
  co_await nopal::call(&b, tree_of_tasks, std::ref(l), n - 2);
  co_await nopal::join;
  l.note(n);
  co_return a + b;
}

int tree_of_calls(log& l, int n) {
  l.note(n);
  if (n < 2) return n;
  int a = 0;
  int b = 0;
  parallel_invoke([&] { a = tree_of_calls(l, n - 1); }, [&] { b = tree_of_calls(l, n - 2); });
  l.note(n);
  return a + b;
}

int tree_of_scopes(log& l, int n) {
  l.note(n);
  if (n < 2) return n;
  int a = 0;
  nopal::scope s;
  s.fork([&] { a = tree_of_scopes(l, n - 1); });
  int const b = tree_of_scopes(l, n - 2);
  s.join();
  l.note(n);
  return a + b;
}

int tree_of_fibers(log& l, int n) {
  l.note(n);
  if (n < 2) return n;
  int a = 0;
  nopal::counter left;
  nopal::spawn(left, [&] { a = tree_of_fibers(l, n - 1); });
  int const b = tree_of_fibers(l, n - 2);
  nopal::wait_for(left);
  l.note(n);
  return a + b;
}

struct run {
  std::vector<int> order;
  std::uint64_t steals;
  bool replayable;

  run(nopal::schedule how, std::uint64_t seed, unsigned workers, int (*program)(log&, int), int n, int expected) {
    nopal::pool pool{{.workers = workers, .seed = seed, .schedule = how}};
    log l;
    EXPECT_EQ(pool.run(program, std::ref(l), n), expected);
    order = l.take();
    steals = pool.stats().steals;
    replayable = pool.stats().lost_turns == 0;
  }
};

int tasks_from_a_function(log& l, int n) { return nopal::sync_wait(tree_of_tasks, std::ref(l), n); }

constexpr auto programs = {tasks_from_a_function, tree_of_calls, tree_of_scopes, tree_of_fibers};

TEST(schedule, the_same_seed_gives_the_same_run) {
  for (auto* const program : programs) {
    std::set<std::vector<int>> all;
    int compared = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      run const once{nopal::schedule::steal_at_random, seed, 3, program, 8, 21};
      run const again{nopal::schedule::steal_at_random, seed, 3, program, 8, 21};
      all.insert(once.order);
      if (!once.replayable || !again.replayable) continue;  // the machine kept a worker from its turn
      ++compared;
      EXPECT_EQ(once.order, again.order);
    }
    EXPECT_GE(all.size(), 15u);
    EXPECT_GE(compared, 10);
  }
}

TEST(schedule, never_steals_nothing_that_was_forked) {
  for (auto* const program : {tasks_from_a_function, tree_of_calls, tree_of_scopes}) {
    run const r{nopal::schedule::steal_never, 1, 3, program, 10, 55};
    if (!r.replayable) continue;
    EXPECT_LE(r.steals, 1u);  // the job itself
    for (int const line : r.order) EXPECT_EQ(line % 100, r.order.front() % 100);
  }
}

TEST(schedule, always_steals_wherever_somebody_is_idle) {
  for (auto* const program : {tasks_from_a_function, tree_of_calls, tree_of_scopes}) {
    // 88 forks: at the first, and whenever a thief has finished what it has stolen
    run const r{nopal::schedule::steal_always, 1, 3, program, 10, 55};
    EXPECT_GE(r.steals, 10u);
  }
}

TEST(schedule, a_worker_that_waits_for_another_loses_its_turn) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_never}};
  std::atomic<bool> flag{false};
  pool.run([&] {
    parallel_invoke(
        [&] {
          while (!flag) std::this_thread::yield();
        },
        [&] { flag = true; });
  });
  EXPECT_GE(pool.stats().lost_turns, 1u);
}

/// Counts the turns in which a worker finds something, and those in which it does not, though it has just searched. One worker runs at a
/// time, and the turn orders what they write here.
class searches final : public nopal::core::observer {
 public:
  struct counts {
    long found = 0, in_vain = 0;
  };
  searches(counts& c, unsigned workers) : counts_{c}, has_run_(workers) {}
  void strand_begins(nopal::core::worker& w, nopal::core::strand_kind, void const*, void const*) noexcept override { found(w.index()); }
  void strand_resumes(nopal::core::worker& w, nopal::core::stack const&, nopal::core::waits_for const*) noexcept override {
    found(w.index());
  }
  // The schedule is told first: the worker has got the turn again.
  void found_nothing(unsigned i) noexcept override {
    if (std::exchange(has_run_[i], 0) == 0) ++counts_.in_vain;
  }

  /// Pools that are made while this is set are observed, and have so many workers.
  static inline counts* of_new_pools = nullptr;
  static inline unsigned workers_of_new_pools = 0;

 private:
  void found(unsigned i) noexcept {
    has_run_[i] = 1;
    ++counts_.found;
  }

  counts& counts_;
  std::vector<char> has_run_;  // since it last found nothing
};

// An offer is for one worker. So of eight, the others get no turn to look for it: hardly any turn is given in vain.
TEST(schedule, who_can_find_nothing_gets_no_turn) {
  nopal::core::observe_new_pools([](nopal::core::pool_state&) -> std::unique_ptr<nopal::core::observer> {
    if (searches::of_new_pools == nullptr) return nullptr;
    return std::make_unique<searches>(*searches::of_new_pools, searches::workers_of_new_pools);
  });
  constexpr unsigned workers = 8;
  searches::workers_of_new_pools = workers;
  for (auto const how : {nopal::schedule::steal_at_random, nopal::schedule::steal_always, nopal::schedule::by_priority}) {
    searches::counts all;
    for (auto* const program : programs) {
      int compared = 0;
      for (std::uint64_t seed = 0; compared < 3 && seed < 30; ++seed) {
        searches::counts c;
        searches::of_new_pools = &c;
        run const r{how, seed, workers, program, 8, 21};
        searches::of_new_pools = nullptr;
        if (!r.replayable) continue;
        ++compared;
        all.found += c.found;
        all.in_vain += c.in_vain;
      }
      EXPECT_GE(compared, 1);
    }
    EXPECT_LE(10 * all.in_vain, all.found) << "schedule " << static_cast<int>(how) << ", " << all.in_vain << " in vain";
    RecordProperty("in_vain_" + std::to_string(static_cast<int>(how)), std::to_string(all.in_vain) + " of " + std::to_string(all.found));
  }
}

/// The most lines in a row that one worker has written.
long longest_stay(std::vector<int> const& order) {
  long longest = 0;
  for (std::size_t first = 0, k = 0; k <= order.size(); ++k) {
    if (k < order.size() && order[k] % 100 == order[first] % 100) continue;
    longest = std::max(longest, static_cast<long>(k - first));
    first = k;
  }
  return longest;
}

// In a long run a worker also goes far while the others stand still; and the run is still the seed's.
TEST(schedule, a_long_run_has_calm_stretches) {
  int compared = 0;
  for (std::uint64_t seed = 0; compared < 5 && seed < 30; ++seed) {
    run const once{nopal::schedule::steal_at_random, seed, 3, tree_of_fibers, 16, 987};
    run const again{nopal::schedule::steal_at_random, seed, 3, tree_of_fibers, 16, 987};
    if (!once.replayable || !again.replayable) continue;
    ++compared;
    EXPECT_EQ(once.order, again.order);
    EXPECT_GE(longest_stay(once.order), 250) << "seed " << seed;
  }
  EXPECT_GE(compared, 1);
}

// The second fork tells no worker of its offer, since none has asked since the first: a worker that has found nothing must look again
// later.
TEST(schedule, what_no_thief_was_told_of_is_found) {
  for (auto const how : {nopal::schedule::steal_never, nopal::schedule::steal_at_random}) {
    nopal::pool pool{{.workers = 3, .schedule = how}};
    for (int k = 0; k < 2; ++k) {
      std::atomic<bool> flag{false};
      pool.run([&] {
        parallel_invoke([] {}, [] {});
        std::this_thread::sleep_for(std::chrono::milliseconds{150});  // the others look, and find nothing
        parallel_invoke(
            [&] {
              while (!flag) std::this_thread::yield();
            },
            [&] { flag = true; });
      });
    }
  }
}

// Each begins the next, so that one at a time is there.
void begins_others(nopal::counter& all, int n) {
  if (n > 0) nopal::spawn(nopal::priority::high, all, [&all, n] { begins_others(all, n - 1); });
}

// Now and then a worker passes over what comes first, for other work. If there is none, it runs it all the same, before it says that it has
// found nothing: nobody would call it again.
TEST(schedule, what_was_passed_over_is_run) {
  using nopal::schedule;
  for (schedule const how :
       {schedule::free, schedule::steal_never, schedule::steal_always, schedule::steal_at_random, schedule::by_priority}) {
    for (unsigned const workers : {1u, 2u}) {
      nopal::pool pool{{.workers = workers, .schedule = how}};
      pool.run([] {
        for (int k = 0; k < 200; ++k) nopal::sleep_for(std::chrono::microseconds{1});
        nopal::counter all;
        begins_others(all, 200);
        nopal::wait_for(all);
      });
    }
  }
}

// A wake-up may happen at any step of a waiter on its way to sleep.
TEST(schedule, finds_the_window_of_the_lost_wake_up) {
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::scaled(300)); ++seed) {
    nopal::pool pool{{.workers = 2, .seed = seed, .schedule = nopal::schedule::steal_at_random}};
    pool.run([&] {
      nopal::counter ping{1}, pong{1}, left;
      nopal::mutex m;
      int turns = 0;
      nopal::spawn(left, [&] {
        ping.done();
        nopal::wait_for(pong);
        std::lock_guard const guard{m};
        ++turns;
      });
      nopal::spawn(left, [&] {
        nopal::wait_for(ping);
        pong.done();
        std::lock_guard const guard{m};
        ++turns;
      });
      nopal::wait_for(left);
      EXPECT_EQ(turns, 2);
    });
  }
}

TEST(schedule, has_a_name_in_the_environment) {
  using nopal::core::schedule_choice;
  EXPECT_EQ(schedule_choice::parse("always").how, nopal::schedule::steal_always);
  EXPECT_EQ(schedule_choice::parse("never:3").how, nopal::schedule::steal_never);
  EXPECT_EQ(schedule_choice::parse("random").seed, 0u);
  EXPECT_EQ(schedule_choice::parse("random:18446744073709551615").seed, ~std::uint64_t{0});
  nopal::core::schedule_choice const pct = schedule_choice::parse("pct:7:d=2:k=500");
  EXPECT_EQ(pct.how, nopal::schedule::by_priority);
  EXPECT_EQ(pct.seed, 7u);
  EXPECT_EQ(pct.depth, 2u);
  EXPECT_EQ(pct.steps, 500u);
  nopal::core::schedule_choice const only = schedule_choice::parse("only:random:7:12>1,2.40>0");
  EXPECT_TRUE(only.only_listed);
  ASSERT_EQ(only.list.size(), 2u);
  EXPECT_EQ(only.list[0].pool, 0u);
  EXPECT_EQ(only.list[0].at, 12u);
  EXPECT_EQ(only.list[0].to, 1u);
  EXPECT_EQ(only.list[1].pool, 2u);
  EXPECT_EQ(only.list[1].at, 40u);
  EXPECT_TRUE(schedule_choice::parse("only:pct:7").list.empty());
  for (char const* const wrong :
       {"sometimes", "random:", "pct:1:d=0", "pct:1:d=101", "pct:1:x=2", "random:1:d=2", "only", "only:7", "only:always:7",
        "only:random:1:7", "only:random:1:7>x", "random:-1", "random:18446744073709551616", "random:7x", ":7"}) {
    try {
      schedule_choice::parse(wrong);
      ADD_FAILURE() << wrong;
    } catch (std::invalid_argument const& e) {
      EXPECT_NE(std::string{e.what()}.find(std::string{"NOPAL_SCHEDULE = \""} + wrong + '"'), std::string::npos) << e.what();
      EXPECT_NE(std::string{e.what()}.find("random:7"), std::string::npos) << e.what();
    }
  }
}

}  // namespace

// The shipped inbox and parking, as src/scheduler uses them: submission.cpp, search.cpp and scheduler::stop.

#include "nopal/core/sleep/parking.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "nopal/core/sleep/inbox.hpp"
#include "sweep.hpp"
#include "work.hpp"

namespace {

using model::check;
using model::program;
using model::sync;
using model::var;
using model::work;
using inbox = nopal::core::basic_inbox<sync>;
using nopal::core::resumable;
using enum std::memory_order;
// An event source with its own wakes as events: as eventfd and epoll.
struct source {
  model::atomic<std::uint32_t> woken{0};
  void wait() noexcept {
    while (woken.exchange(0, acq_rel) == 0) sync::wait(woken, 0);
  }
  void wake() noexcept {
    woken.store(1, release);
    sync::wake(woken);
  }
};
using parking = nopal::core::basic_parking<sync, source>;

void inbox_program(program& p, int producers, int each, int takers) {
  struct state {
    inbox in;
    std::array<work, 4> jobs;
  };
  auto& s = p.make<state>();
  for (int i = 0; i < producers; ++i) {
    p.thread([&s, i, each] {
      for (int k = i * each; k < (i + 1) * each; ++k) {
        work& w = s.jobs[static_cast<std::size_t>(k)];
        w.number = k;
        w.message.set(k + 1);
        s.in.push(&w);
      }
    });
  }
  auto const take = [&s, each] {
    std::array<int, 4> last{-1, -1, -1, -1};
    for (resumable* j = s.in.take_all(); j != nullptr;) {
      resumable* const next = j->next;
      auto& w = *static_cast<work*>(j);
      w.take();
      int& before = last[static_cast<std::size_t>(w.number / each)];
      check(before < w.number, "what one producer pushed comes in its order");
      before = w.number;
      j = next;
    }
  };
  for (int i = 0; i < takers; ++i) p.thread(take);
  p.finally([&s, take, n = producers * each] {
    take();
    for (int i = 0; i < n; ++i) check(s.jobs[static_cast<std::size_t>(i)].taken == 1, "no job is lost");
  });
}

/// A pool: workers that search and sleep, jobs from outside, external callers that occupy a worker. While a job is in an inbox some worker
/// must be awake: else all would wait for ever.
struct pool {
  source events;
  model::atomic<bool> in_source{false};
  bool const has_events;
  parking sleepers;
  std::vector<std::unique_ptr<inbox>> open;
  std::vector<std::unique_ptr<var<int>>> worker;  ///< data of the thread that occupies the worker
  model::atomic<bool> stopping{false};
  model::atomic<int> left;  ///< jobs not yet run
  std::array<work, 3> jobs;
  enum class bug { none, notifies_before_push, sleeps_without_a_test } planted = bug::none;

  pool(std::vector<unsigned> const& nodes, int n, bool with_events = false)
      : has_events{with_events}, sleepers{std::span<unsigned const>{nodes}, with_events ? &events : nullptr}, left{n} {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      open.push_back(std::make_unique<inbox>());
      worker.push_back(std::make_unique<var<int>>(0, "a worker"));
    }
  }
  unsigned workers() const { return static_cast<unsigned>(open.size()); }
  bool must_stay_awake(unsigned i) const noexcept {
    return stopping.load(seq_cst) || (planted != bug::sleeps_without_a_test && !open[i]->empty());
  }

  /// As inject does.
  void put(int k, unsigned i) {
    work& w = jobs[static_cast<std::size_t>(k)];
    w.number = k;
    w.message.set(k + 1);
    sleepers.add();
    open[i]->push(&w);
    sleepers.announce(i);
  }
  /// As inject does if stealing is off, and as send does, for a job that only this worker may run.
  void put_private(int k, unsigned i) {
    work& w = jobs[static_cast<std::size_t>(k)];
    w.number = k;
    w.message.set(k + 1);
    if (planted == bug::notifies_before_push) sleepers.notify(i);
    open[i]->push(&w);
    if (planted != bug::notifies_before_push) sleepers.notify(i);
  }
  void stop() {
    stopping.store(true, seq_cst);
    for (unsigned i = 0; i < workers(); ++i) sleepers.notify(i);
  }
  void use(unsigned i) { worker[i]->set(worker[i]->get() + 1); }

  bool run_all(resumable* j, bool counts) {
    bool any = false;
    while (j != nullptr) {
      resumable* const next = j->next;
      any = true;
      if (counts) sleepers.retract();
      static_cast<work*>(j)->take();
      if (left.fetch_sub(1, acq_rel) == 1) stop();
      j = next;
    }
    return any;
  }
  void loop(unsigned i, bool steals) {
    bool searching = false;
    while (!stopping.load(relaxed)) {
      if (!searching) sleepers.start_searching(i);
      searching = true;
      use(i);
      resumable* found = open[i]->take_all();
      for (unsigned k = 0; steals && found == nullptr && k < workers(); ++k)
        if (k != i && sleepers.visible_work()) found = open[k]->take_all();
      if (found != nullptr) {
        searching = false;
        sleepers.stop_searching(i);
        run_all(found, steals);
        continue;
      }
      auto const stays = [&] { return must_stay_awake(i); };
      if (has_events && !in_source.exchange(true, acquire)) {
        sleepers.watch(i, stays, [&] { events.wait(); });
        in_source.store(false, release);
        sync::relax();
      } else if (!sleepers.park(i, stays)) {
        sync::relax();
      }
    }
    if (searching) sleepers.stop_searching(i);
  }
  /// An external caller of run; no other thread may run its job.
  void visit(unsigned i) {
    if (!sleepers.occupy(i)) return;
    use(i);
    sleepers.vacate(i, [&] { return must_stay_awake(i); });
  }
};

void pool_program(program& p, std::vector<unsigned> const& nodes, std::vector<unsigned> const& puts, bool steals, bool caller,
                  pool::bug planted = pool::bug::none, bool events = false) {
  auto& s = p.make<pool>(nodes, static_cast<int>(puts.size()), events);
  s.planted = planted;
  for (unsigned i = 0; i < s.workers(); ++i) p.thread([&s, i, steals] { s.loop(i, steals); });
  p.thread([&s, puts, steals] {
    for (std::size_t k = 0; k < puts.size(); ++k) {
      if (steals) {
        s.put(static_cast<int>(k), puts[k]);
      } else {
        s.put_private(static_cast<int>(k), puts[k]);
      }
    }
  });
  if (caller) p.thread([&s] { s.visit(0); });
  p.finally([&s, n = puts.size()] {
    for (std::size_t k = 0; k < n; ++k) check(s.jobs[k].taken == 1, "every job runs");
  });
}

/// A job for a worker that is busy until another worker has run it.
void busy_program(program& p, std::vector<unsigned> const& nodes) {
  auto& s = p.make<pool>(nodes, 1);
  p.thread([&s] {
    s.put(0, 0);
    while (s.left.load(acquire) != 0) sync::relax();
  });
  for (unsigned i = 1; i < s.workers(); ++i) p.thread([&s, i] { s.loop(i, true); });
  p.finally([&s] { check(s.jobs[0].taken == 1, "the job runs"); });
}

/// A worker that is busy takes its job out of its inbox and leaves another in its place, as a yield does: that is neither added nor announced,
/// and another worker must run it. `retracts`: a fault, the job that was taken no longer counts.
void yield_program(program& p, std::vector<unsigned> const& nodes, bool retracts = false) {
  auto& s = p.make<pool>(nodes, 2);
  p.thread([&s, retracts] {
    s.put(0, 0);
    resumable* const taken = s.open[0]->take_all();
    if (taken == nullptr) {  // a thief has it
      s.put(1, 0);
    } else {
      work& other = s.jobs[1];
      other.number = 1;
      other.message.set(2);
      if (retracts) s.sleepers.retract();
      s.open[0]->push(&other);
      s.run_all(taken, false);
    }
    while (s.left.load(acquire) != 0) sync::relax();
  });
  for (unsigned i = 1; i < s.workers(); ++i) p.thread([&s, i] { s.loop(i, true); });
  p.finally([&s] { check(s.jobs[0].taken == 1 && s.jobs[1].taken == 1, "both jobs run"); });
}

/// A strand offers, and waits in a long leaf until a thief has taken the offer: some thief must be awake.
void offer_program(program& p, bool stops, bool caller, bool events = false) {
  struct state {
    source events;
    parking sleepers;
    model::atomic<int> offered{0};  // stands for the deque
    model::atomic<bool> stolen{false};
    state(std::vector<unsigned> const& nodes, bool has) : sleepers{std::span<unsigned const>{nodes}, has ? &events : nullptr} {}
  };
  auto& s = p.make<state>(std::vector<unsigned>{0, 0, 0}, events);
  p.thread([&s] {
    s.offered.store(1, relaxed);
    s.sleepers.offer();
    while (!s.stolen.load(acquire)) sync::relax();
  });
  for (unsigned i = 1; i < (stops ? 3U : 2U); ++i) {
    p.thread([&s, i, stops, events] {
      s.sleepers.start_searching(i);
      if (stops && i == 2) return s.sleepers.stop_searching(i);  // a thief that has found something else
      while (!s.stolen.load(relaxed)) {
        if (s.sleepers.visible_work() && s.offered.exchange(0, acquire) == 1) {
          s.sleepers.retract();
          s.stolen.store(true, release);
          break;
        }
        if (events) {
          s.sleepers.watch(i, [] { return false; }, [&s] { s.events.wait(); });
          sync::relax();
        } else if (!s.sleepers.park(i, [] { return false; })) {
          sync::relax();
        }
      }
      s.sleepers.stop_searching(i);
    });
  }
  if (caller) {
    p.thread([&s] {
      if (s.sleepers.occupy(1)) s.sleepers.vacate(1, [] { return false; });
    });
  }
}

std::vector<model::scenario> scenarios() {
  return {
      {"inbox: a producer, a taker", [](program& p) { inbox_program(p, 1, 2, 1); }},
      {"inbox: two producers, a taker", [](program& p) { inbox_program(p, 2, 1, 1); }},
      {"inbox: a producer of two, two takers", [](program& p) { inbox_program(p, 1, 2, 2); }},
      {"a job for the only worker", [](program& p) { pool_program(p, {0}, {0}, true, false); }, -1, 1, 2},
      {"a job that only one may run", [](program& p) { pool_program(p, {0}, {0}, false, false); }, -1, 1, 2},
      {"a job for a worker that is occupied", [](program& p) { pool_program(p, {0}, {0}, true, true); }, 2, 1, 2},
      {"an offer to a thief", [](program& p) { offer_program(p, false, false); }, -1, 1, 2},
      {"an offer, and a thief that stops", [](program& p) { offer_program(p, true, false); }, -1, 1, 2},
      {"an offer, a worker that watches and a thief that stops", [](program& p) { offer_program(p, true, false, true); }, -1, 1, 2},
      {"a job for a busy worker, a thief of its node", [](program& p) { busy_program(p, {0, 0}); }, -1, 1, 2},
      {"a job for a busy worker, a thief of another node", [](program& p) { busy_program(p, {0, 1}); }, -1, 1, 2},
      {"a job in the place of another, a thief of its node", [](program& p) { yield_program(p, {0, 0}); }, 2, 1, 2},
      {"a job in the place of another, a thief of another node", [](program& p) { yield_program(p, {0, 1}); }, 2, 1, 2},
      {"an offer, a caller that vacates, and a thief that stops", [](program& p) { offer_program(p, true, true); }, 2, 1, 3},
      {"a job, two workers of a node", [](program& p) { pool_program(p, {0, 0}, {0}, true, false); }, 1, 3, 2},
      {"a job, two workers of two nodes", [](program& p) { pool_program(p, {0, 1}, {0}, true, false); }, 1, 3, 2},
      {"two jobs for the only worker", [](program& p) { pool_program(p, {0}, {0, 0}, true, false); }, 3, 2, 2},
      {"a job for the only worker, which watches", [](program& p) { pool_program(p, {0}, {0}, true, false, pool::bug::none, true); }, -1, 1,
       2},
      {"a job that only one may run, which watches", [](program& p) { pool_program(p, {0}, {0}, false, false, pool::bug::none, true); }, -1,
       1, 2},
      {"a job and a caller, a worker that watches", [](program& p) { pool_program(p, {0}, {0}, true, true, pool::bug::none, true); }, 2, 1,
       2},
      {"a job, a worker that watches and one that sleeps",
       [](program& p) { pool_program(p, {0, 0}, {0}, true, false, pool::bug::none, true); }, 1, 2, 2},
  };
}

class parking_model : public testing::TestWithParam<std::size_t> {};

TEST_P(parking_model, is_right) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::explore_and_report("inbox, parking", scenarios()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(every, parking_model, testing::Range(std::size_t{0}, scenarios().size()));

// With stealing off nothing else keeps the worker awake.
TEST(parking_bugs, a_lost_wake_up_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  for (bool const events : {false, true}) {
    auto const run = [events](pool::bug b) {
      return model::explore({}, [=](program& p) { pool_program(p, {0}, {0}, false, false, b, events); });
    };
    EXPECT_TRUE(run(pool::bug::none).ok());
    EXPECT_FALSE(run(pool::bug::sleeps_without_a_test).ok());
    EXPECT_FALSE(run(pool::bug::notifies_before_push).ok());
  }
}

TEST(parking_bugs, a_place_that_does_not_count_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::config few;
  few.preemptions = 2;
  EXPECT_FALSE(model::explore(few, [](program& p) { yield_program(p, {0, 0}, true); }).ok());  // without the fault: a scenario above
}

TEST(parking_orders, each_is_needed) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::weaken_each(scenarios(), {"sleep/parking.hpp", "sleep/inbox.hpp"}, {});
}

}  // namespace

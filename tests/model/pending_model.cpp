// Pending work, and the end of a pool: jobs that end, a fiber that submits one, and a thread that waits for all of them and destroys the
// counts at once. Every interleaving and stale value, with the shipped pending_work.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "explorer.hpp"
#include "memory.hpp"
#include "nopal/core/scheduler/pending_work.hpp"
#include "sweep.hpp"
#include "waits.hpp"

namespace {

using model::check;
using model::program;
using model::sync;
using model::var;
using pending_work = nopal::core::basic_pending_work<model::mortal_sync>;

enum class pending_bug { none, does_not_look_again, touches_afterwards, counts_late };

struct a_pool {
  std::optional<pending_work> pending;
  model::atomic<std::uint64_t> spawned{0}, fibers_ended{0};
  model::atomic<std::uint32_t> given{0};
  var<int> job{0, "what a job writes"}, second_job{0, "what another job writes"}, fiber{0, "what a fiber writes"};
  pending_bug planted;

  explicit a_pool(pending_bug b) : planted{b} { pending.emplace(); }

  void finish() {
    pending->finished();
    if (planted == pending_bug::touches_afterwards) static_cast<void>(pending->count());
  }

  // As a round of wait_for_all in src/scheduler/submission.cpp.
  bool all_have_ended() {
    std::uint64_t const before = spawned.load();
    std::uint64_t const submitted = wait_until_none();
    bool const same = fibers_ended.load() == before && spawned.load() == before;
    return same && (planted == pending_bug::does_not_look_again || pending->none_since(submitted));
  }
  std::uint64_t wait_until_none() {
    struct waiting : pending_work::waiter {
      model::atomic<std::uint32_t> none{0};
      waiting() noexcept
          : pending_work::waiter{[](pending_work::waiter& w) noexcept {
              auto& flag = static_cast<waiting&>(w).none;
              flag.store(1, std::memory_order_release);
              sync::wake(flag);
            }} {}
    };
    for (;;) {
      waiting me;
      std::uint64_t submitted = 0;
      if (pending->none_or_wake(submitted, me)) return submitted;
      while (me.none.load(std::memory_order_acquire) == 0) sync::wait(me.none, 0u);
    }
  }
};

/// Jobs that were submitted before, and end.
void jobs_program(program& p, int jobs, pending_bug planted) {
  auto& s = p.make<a_pool>(planted);
  for (int k = 0; k < jobs; ++k) s.pending->started();
  p.thread([&s] {
    s.job.set(1);
    s.finish();
  });
  if (jobs == 2) {
    p.thread([&s] {
      s.second_job.set(1);
      s.finish();
    });
  }
  p.thread([&s, jobs] {
    check(s.all_have_ended(), "without fibers the first round finds the end");
    check(s.job.get() == 1 && (jobs == 1 || s.second_job.get() == 1), "the end sees what the jobs have written");
    s.pending.reset();
  });
}

/// A fiber submits a job, and ends; the job spawns a fiber, and ends; that fiber ends last.
void in_turn_program(program& p, pending_bug planted) {
  auto& s = p.make<a_pool>(planted);
  s.spawned.store(1);
  p.thread([&s] {
    if (s.planted == pending_bug::counts_late) s.fibers_ended.store(1, std::memory_order_release);
    s.pending->started();
    s.given.store(1, std::memory_order_release);
    sync::wake(s.given);
    if (s.planted != pending_bug::counts_late) s.fibers_ended.store(1, std::memory_order_release);
  });
  p.thread([&s] {
    while (s.given.load(std::memory_order_acquire) == 0) sync::wait(s.given, 0u);
    s.job.set(1);
    s.spawned.fetch_add(1, std::memory_order_relaxed);  // as counters::add
    s.finish();
    s.fiber.set(1);
    s.fibers_ended.fetch_add(1, std::memory_order_release);
  });
  p.thread([&s] {
    if (!s.all_have_ended()) return;  // another round would follow
    check(s.job.get() == 1 && s.fiber.get() == 1, "the end sees what the job and its fiber have written");
    s.pending.reset();
  });
}

/// A thread outside submits, while shutdown ends the pool's threads, if nothing is pending: scheduler::end_threads.
void shutdown_program(program& p, bool looks_first) {
  struct both {
    a_pool pool{pending_bug::none};
    model::atomic<unsigned> process{1};
    bool finds_threads = false, threads_end = false;
    pending_work::waiter waits{[](pending_work::waiter&) noexcept {}};  // shutdown's: it lives until it was woken
  };
  auto& s = p.make<both>();
  p.thread([&s, looks_first] {
    if (!looks_first) s.pool.pending->started();
    s.finds_threads = s.process.load(std::memory_order_seq_cst) == 1;
    if (looks_first) s.pool.pending->started();
    if (!s.finds_threads) s.pool.finish();  // it would start them again
  });
  p.thread([&s] {
    s.process.store(0, std::memory_order_seq_cst);
    std::uint64_t submitted = 0;
    bool const none = s.pool.pending->none_or_wake(submitted, s.waits);
    if (none && s.pool.pending->none_since(submitted)) {
      s.threads_end = true;
    } else {
      if (!none) static_cast<void>(s.pool.pending->do_not_wake(s.waits));
      s.process.store(1, std::memory_order_seq_cst);
    }
  });
  p.finally([&s] { check(!s.finds_threads || !s.threads_end, "who submits finds threads that stay, or starts them"); });
}

std::vector<model::scenario> scenarios() {
  return {
      {"a submission beside shutdown", [](program& p) { shutdown_program(p, false); }, -1, 1, 2},
      {"a job ends", [](program& p) { jobs_program(p, 1, pending_bug::none); }, -1, 1, 2},
      {"two jobs end", [](program& p) { jobs_program(p, 2, pending_bug::none); }, 2, 1, 2},
      {"a fiber submits a job that spawns a fiber", [](program& p) { in_turn_program(p, pending_bug::none); }, 2, 1, 2},
  };
}

class pending_model : public testing::TestWithParam<std::size_t> {};

TEST_P(pending_model, is_right) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::explore_and_report("pending", scenarios()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(every, pending_model, testing::Range(std::size_t{0}, scenarios().size()));

TEST(pending_bugs, an_end_too_early_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  auto const run = [](auto body) {
    model::config o;
    o.preemptions = 2;
    return model::explore(o, body).ok();
  };
  EXPECT_TRUE(run([](program& p) { in_turn_program(p, pending_bug::none); }));
  EXPECT_FALSE(run([](program& p) { in_turn_program(p, pending_bug::does_not_look_again); }));
  EXPECT_FALSE(run([](program& p) { in_turn_program(p, pending_bug::counts_late); }));
  EXPECT_FALSE(run([](program& p) { jobs_program(p, 1, pending_bug::touches_afterwards); }));
  EXPECT_FALSE(run([](program& p) { shutdown_program(p, true); }));
}

TEST(pending_orders, each_is_needed) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  std::string const at_once =
      "the explorer makes each read-modify-write at its place in the program, never after a later load of another word";
  model::weaken_each(scenarios(), {"scheduler/pending_work.hpp"},
                     {{"started: fetch_add seq_cst -> acq_rel", at_once},
                      {"none_since: load seq_cst -> acquire", at_once},
                      {"none_or_wake: load acquire -> relaxed", at_once}});
}

}  // namespace

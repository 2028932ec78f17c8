// Stacks that stay: a thread that waits on top of its stack, or has left it, the thread that ends its wait, and a job for this thread
// alone. Every interleaving and stale value, with the shipped parking and join word.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "explorer.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/sleep/inbox.hpp"
#include "nopal/core/sleep/parking.hpp"
#include "nopal/core/stack/top_wait.hpp"
#include "sweep.hpp"
#include "work.hpp"

namespace {

using model::check;
using model::program;
using model::sync;
using model::var;
using model::work;
using nopal::core::resumable;
using enum std::memory_order;

/// A thread that dozes is never woken by time alone: so a lost wake-up shows as a deadlock.
struct patient : sync {
  static void wait_for(model::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t,
                       model::where at = model::where::current()) noexcept {
    wait(a, expected, at);
  }
};
using parking = nopal::core::basic_parking<patient>;
using inbox = nopal::core::basic_inbox<sync>;
using word = nopal::core::basic_join_word<sync>;
using top_wait = nopal::core::basic_top_wait<sync>;

enum class home_bug { none, calls_first, dozes_without_a_test, all_may_doze, only_calls, reads_afterwards };

struct homes {
  struct home {
    inbox own;
    word join;
    top_wait wait;
    resumable on_its_way;
    var<int> frame{0, "the frame that waits"}, stack{0, "the stack as it was left"}, result{0, "the child's result"};
    int resumed = 0;
    resumable* kept = nullptr;  ///< what its thread has taken from `own` and has not run yet
    resumable* next_own() {
      if (kept == nullptr) kept = own.take_all();
      resumable* const first = kept;
      if (first != nullptr) kept = first->next;
      return first;
    }
  };
  parking sleepers;
  std::vector<std::unique_ptr<home>> all;
  inbox open;
  std::array<work, 2> children;
  home_bug planted;

  homes(std::vector<unsigned> const& nodes, home_bug b) : sleepers{std::span<unsigned const>{nodes}}, planted{b} {
    for (std::size_t i = 0; i < nodes.size(); ++i) all.push_back(std::make_unique<home>());
  }
  /// Worker i continues after its wait, and its frame ends.
  void go_on(unsigned i) {
    home& h = *all[i];
    check(h.result.get() == 1, "the waiter sees what its child has written");
    h.frame.set(2);
    ++h.resumed;
  }
  /// A child of i's join ends: top_wait::resume.
  void end_child(unsigned i) {
    home& h = *all[i];
    h.result.set(1);
    if (!h.join.arrive()) return;
    check(h.frame.get() == 1, "the waiter's frame is there");
    if (planted == home_bug::calls_first) sleepers.call(i);
    bool const was_left = h.wait.happens();
    if (planted == home_bug::reads_afterwards) static_cast<void>(h.frame.get());
    if (was_left && planted != home_bug::only_calls) {
      check(h.stack.get() == 1, "who owns a stack that was left sees it saved");
      h.own.push(&h.on_its_way);
      sleepers.call(i);
    } else if (planted != home_bug::calls_first) {
      sleepers.call(i);
    }
  }
  bool doze(unsigned i) {
    home const& h = *all[i];
    auto const must_wake = [&] { return planted != home_bug::dozes_without_a_test && (h.wait.has_happened() || !h.own.empty()); };
    return sleepers.doze(i, must_wake, 1) || planted == home_bug::all_may_doze;
  }
  /// Worker i's strand waits at its join. runs_anything: what its thread does where it may not doze, once it has left the stack.
  template <class F>
  void wait_at_join(unsigned i, F runs_anything) {
    home& h = *all[i];
    h.frame.set(1);
    if (h.join.announce(1)) return go_on(i);
    while (!h.wait.has_happened()) {
      if (h.own.empty() && doze(i)) {
        if (planted == home_bug::all_may_doze) sync::relax();
        continue;
      }
      h.stack.set(1);
      if (!h.wait.leave()) break;
      for (resumable* r; (r = h.next_own()) != &h.on_its_way;) {
        if (r != nullptr) {
          static_cast<work*>(r)->take();
        } else if (h.wait.has_happened()) {
          sync::relax();  // it is on its way
        } else if (!doze(i)) {
          runs_anything();
        }
      }
      break;
    }
    go_on(i);
  }
};

/// A wait on top of a stack; `job`: with a job that only its thread may run.
void home_program(program& p, bool job, home_bug planted) {
  auto& s = p.make<homes>(std::vector<unsigned>{0, 0}, planted);
  p.thread([&s, job] {
    // It may read that all doze while its caller has not taken it off the count yet: then it looks once more.
    s.wait_at_join(0, [] { sync::relax(); });
    resumable* r = nullptr;
    while (job && s.children[0].taken == 0) {
      if ((r = s.all[0]->next_own()) != nullptr) {
        static_cast<work*>(r)->take();
      } else {
        sync::relax();
      }
    }
  });
  p.thread([&s] { s.end_child(0); });
  if (job) {
    p.thread([&s] {
      s.children[0].message.set(1);
      s.all[0]->own.push(&s.children[0]);
      s.sleepers.call(0);
    });
  }
  p.finally([&s, job] {
    check(s.all[0]->resumed == 1, "a wait ends once");
    check(!job || s.children[0].taken == 1, "what only one thread may run is run");
  });
}

/// Both workers wait at joins, and none has begun the children: one of them must.
void all_wait_program(program& p, home_bug planted) {
  auto& s = p.make<homes>(std::vector<unsigned>{0, 0}, planted);
  for (unsigned i = 0; i < 2; ++i) {
    s.children[i].number = static_cast<int>(i);
    p.thread([&s, i] {
      s.children[i].message.set(s.children[i].number + 1);
      s.open.push(&s.children[i]);
      s.wait_at_join(i, [&s] {
        for (resumable* r = s.open.take_all(); r != nullptr;) {
          resumable* const next = r->next;
          auto& w = *static_cast<work*>(r);
          auto const whose = static_cast<unsigned>(w.number);
          w.take();
          s.end_child(whose);
          r = next;
        }
        sync::relax();
      });
    });
  }
  p.finally([&s] {
    for (unsigned i = 0; i < 2; ++i) check(s.all[i]->resumed == 1 && s.children[i].taken == 1, "nothing stands still");
  });
}

std::vector<model::scenario> scenarios() {
  return {
      {"a wait on top of a stack", [](program& p) { home_program(p, false, home_bug::none); }, -1, 1, 2},
      {"a wait on top of a stack, and a job for its thread", [](program& p) { home_program(p, true, home_bug::none); }, 2, 1, 2},
      {"two waits on top of stacks, and nobody else", [](program& p) { all_wait_program(p, home_bug::none); }, 2, 1, 3},
  };
}

class home_model : public testing::TestWithParam<std::size_t> {};

TEST_P(home_model, is_right) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::explore_and_report("home", scenarios()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(every, home_model, testing::Range(std::size_t{0}, scenarios().size()));

TEST(home_bugs, a_wait_that_is_forgotten_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  auto const run = [](auto body) {
    model::config o;
    o.preemptions = 2;
    return model::explore(o, body).ok();
  };
  auto const one = [&](bool job, home_bug b) { return run([=](program& p) { home_program(p, job, b); }); };
  EXPECT_TRUE(one(false, home_bug::none));
  EXPECT_FALSE(one(false, home_bug::calls_first));
  EXPECT_FALSE(one(false, home_bug::dozes_without_a_test));
  EXPECT_FALSE(one(false, home_bug::reads_afterwards));
  EXPECT_FALSE(one(true, home_bug::only_calls));
  EXPECT_FALSE(run([](program& p) { all_wait_program(p, home_bug::all_may_doze); }));
}

TEST(home_orders, each_is_needed) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  std::string const there = "these programs do not need it; the sweep of parking_model.cpp does";
  model::weaken_each(scenarios(), {"sleep/parking.hpp", "sleep/inbox.hpp", "stack/top_wait.hpp"},
                     {{"change: compare_exchange acquire -> relaxed", there},
                      {"push: compare_exchange seq_cst -> acq_rel", there},
                      {"empty: load seq_cst -> acquire", there}});
}

}  // namespace

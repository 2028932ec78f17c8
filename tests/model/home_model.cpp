// Stacks that stay come home: the join word, the inbox and the dozing that ship, in the order of src/stack/home.cpp and of search_below_join
// in src/scheduler/search.cpp.

#include "nopal/core/deque/join_word.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "nopal/core/sleep/inbox.hpp"
#include "nopal/core/sleep/parking.hpp"
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

/// A thread that dozes is never woken by time alone: so a lost call shows as a deadlock.
struct patient : sync {
  static void wait_for(model::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t, model::where at = model::where::current()) noexcept {
    wait(a, expected, at);
  }
};
using parking = nopal::core::basic_parking<patient>;
using inbox = nopal::core::basic_inbox<sync>;
using word = nopal::core::basic_join_word<sync>;

enum class home_bug { none, calls_before_push, dozes_without_a_test, all_may_doze, resumed_by_whoever_completes };

/// Stacks that stay, and their threads, which keep to the joins at which these wait.
struct homes {
  struct home {
    inbox own;
    word join;
    resumable on_its_way;
    var<int> stack{0, "the stack that stays"}, result{0, "its child's result"};
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
  void resume(unsigned i, unsigned by) {
    home& h = *all[i];
    check(by == i, "a stack that stays is resumed by the thread that left it");
    check(h.stack.get() == 1, "whoever resumes a stack sees it saved");
    check(h.result.get() == 1, "and what its child has written");
    h.stack.set(2);
    ++h.resumed;
  }
  /// A child of i's join ends on a worker: bring_home.
  void end_child(unsigned i, unsigned by) {
    home& h = *all[i];
    h.result.set(1);
    if (!h.join.arrive()) return;
    if (planted == home_bug::resumed_by_whoever_completes) return resume(i, by);
    if (planted == home_bug::calls_before_push) sleepers.call(i);
    h.own.push(&h.on_its_way);
    if (planted != home_bug::calls_before_push) sleepers.call(i);
  }
  bool doze(unsigned i) {
    auto const must_wake = [&] { return planted != home_bug::dozes_without_a_test && !all[i]->own.empty(); };
    return sleepers.doze(i, must_wake, 1) || planted == home_bug::all_may_doze;
  }
  /// Worker i's strand waits at its join; the thread keeps to that until its stack has come home. runs_anything: what it does where it may
  /// not doze.
  template <class F>
  void wait_at_join(unsigned i, F runs_anything) {
    home& h = *all[i];
    h.stack.set(1);
    if (h.join.announce(1)) return resume(i, i);
    for (;;) {
      if (h.next_own() != nullptr) return resume(i, i);
      if (!doze(i)) {
        runs_anything();
      } else if (planted == home_bug::all_may_doze) {
        sync::relax();
      }
    }
  }
};

/// A stack comes home; then, without a bug, its thread sleeps as a thief, and is called for something else.
void home_program(program& p, home_bug planted) {
  auto& s = p.make<homes>(std::vector<unsigned>{0, 0}, planted);
  p.thread([&s] {
    // It may be told that all doze while its caller has not taken it off the count yet: then it looks once more.
    s.wait_at_join(0, [] { sync::relax(); });
    if (s.planted != home_bug::none) return;
    s.sleepers.start_searching(0);
    resumable* r = nullptr;
    while ((r = s.all[0]->next_own()) == nullptr) {
      if (!s.sleepers.park(0, [&] { return !s.all[0]->own.empty(); })) sync::relax();
    }
    static_cast<work*>(r)->take();
    s.sleepers.stop_searching(0);
  });
  p.thread([&s] {
    s.end_child(0, 1);
    if (s.planted != home_bug::none) return;
    s.children[0].message.set(1);
    s.all[0]->own.push(&s.children[0]);
    s.sleepers.call(0);
  });
  p.finally([&s] {
    check(s.all[0]->resumed == 1, "a stack is resumed once");
    check(s.planted != home_bug::none || s.children[0].taken == 1, "what only one thread may run is run");
  });
}

/// Both workers keep to joins, whose children nobody has begun: one of them must.
void all_keep_program(program& p, home_bug planted) {
  auto& s = p.make<homes>(std::vector<unsigned>{0, 0}, planted);
  for (unsigned i = 0; i < 2; ++i) {
    s.children[i].number = static_cast<int>(i);
    p.thread([&s, i] {
      s.children[i].message.set(s.children[i].number + 1);
      s.open.push(&s.children[i]);
      s.wait_at_join(i, [&s, i] {
        for (resumable* r = s.open.take_all(); r != nullptr;) {
          resumable* const next = r->next;
          auto& w = *static_cast<work*>(r);
          auto const whose = static_cast<unsigned>(w.number);
          w.take();
          s.end_child(whose, i);
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
      {"a stack that comes home, and a job for its thread", [](program& p) { home_program(p, home_bug::none); }, -1, 1, 2},
      {"two stacks that stay, and nobody else", [](program& p) { all_keep_program(p, home_bug::none); }, 2, 1, 3},
  };
}

class home_model : public testing::TestWithParam<std::size_t> {};

TEST_P(home_model, is_right) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::explore_and_report("home", scenarios()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(every, home_model, testing::Range(std::size_t{0}, scenarios().size()));

TEST(home_bugs, a_stack_that_is_forgotten_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  auto const run = [](auto which, home_bug b) {
    model::config o;
    o.preemptions = 2;
    return model::explore(o, [=](program& p) { which(p, b); });
  };
  EXPECT_TRUE(run(home_program, home_bug::none).ok());
  EXPECT_FALSE(run(home_program, home_bug::calls_before_push).ok());
  EXPECT_FALSE(run(home_program, home_bug::dozes_without_a_test).ok());
  EXPECT_FALSE(run(home_program, home_bug::resumed_by_whoever_completes).ok());
  EXPECT_FALSE(run(all_keep_program, home_bug::all_may_doze).ok());
}

TEST(home_orders, each_is_needed) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  std::string const there = "these programs do not need it; the sweep of parking_model.cpp does";
  model::weaken_each(scenarios(), {"sleep/parking.hpp", "sleep/inbox.hpp"},
                     {{"visible_work: load seq_cst -> acquire", there},
                      {"stop_searching: fetch_sub seq_cst -> acq_rel", there},
                      {"park: fetch_sub seq_cst -> acq_rel", there},
                      {"park: load acquire -> relaxed", there},
                      {"change: compare_exchange acquire -> relaxed", there}});
}

}  // namespace

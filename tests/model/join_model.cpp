// The shipped join word; and with it and the deque, how an arena and a native stack pass to the thread that resumes the parent, in the
// order of src/task/slow_path.cpp and src/stack/native_fork.cpp.

#include "nopal/core/deque/join_word.hpp"

#include <gtest/gtest.h>

#include <array>

#include "nopal/core/deque/deque.hpp"
#include "sweep.hpp"

namespace {

using model::check;
using model::program;
using model::sync;
using model::var;
using word = nopal::core::basic_join_word<sync>;
using deque = nopal::core::basic_deque<sync>;
using enum std::memory_order;

/// One scope; its parent was stolen from under each of its children.
struct scope {
  word join;
  var<int> parent{0, "the parent's frame"};
  std::array<var<int>, 3> results;
  var<int> recorded{0, "what the scope keeps of its exceptions"};
  var<int> resumed{0, "whoever resumes the parent"};
  int children;
  int throwing;
  std::uint64_t wrong = 0;  ///< by so much a thief's mode was another
  std::uint64_t digests = 0;

  scope(int c, int t) : children{c}, throwing{t} {
    for (int i = 0; i < c; ++i) digests += digest(i);
  }
  /// Of the mode in which child i ends: large, so that sums of them carry.
  static std::uint64_t digest(int i) { return (std::uint64_t{1} << 24) - 5 - static_cast<std::uint64_t>(i); }
  void resume_announced() {
    check(join.modes_agree() == (wrong == 0), "the modes agree where each thief had the right one");
    resume();
  }

  void resume() {
    resumed.set(resumed.get() + 1);
    for (int i = 0; i < children; ++i)
      check(results[static_cast<std::size_t>(i)].get() == i + 1, "whoever resumes the parent sees every child's result");
    check(parent.get() == 1, "whoever resumes the parent sees its frame");
    if (throwing > 0) check(recorded.get() == throwing, "and what was recorded");
    check(join.due() == (throwing > 0), "the word says whether something was recorded");
    check(join.reset() == (throwing > 0), "and so does reset");
    parent.set(2);
  }
  void child(int i) {
    results[static_cast<std::size_t>(i)].set(i + 1);
    if (i < throwing) {
      join.record([&](bool before) {
        check(before == (recorded.get() > 0), "a recorder is told whether it is the first");
        recorded.set(recorded.get() + 1);
      });
    }
    if (join.arrive(digest(i))) resume_announced();
  }
  void join_all(bool tests_first) {
    parent.set(1);
    if (tests_first && join.complete(children)) return resume();
    if (join.announce(children, digests + wrong)) resume_announced();
  }
};

void join_program(program& p, int children, int throwing, bool tests_first, std::uint64_t wrong = 0) {
  auto& s = p.make<scope>(children, throwing);
  s.wrong = wrong;
  p.thread([&s, tests_first] { s.join_all(tests_first); });
  for (int i = 0; i < children; ++i) p.thread([&s, i] { s.child(i); });
  p.finally([&s] { check(s.resumed.get() == 1, "exactly one resumes the parent"); });
}

/// The next scope of the same frame: the thread that completed the first forks again, and the deque tells the thief.
void two_scopes(program& p) {
  struct state {
    word join;
    var<int> first{0, "the first scope's result"}, second{0, "the second scope's result"};
    var<int> resumed{0, "whoever resumes the parent"};
    deque d{4};

    void resume_after_first() {
      check(first.get() == 1, "the first result");
      join.reset();
      d.push(1);
      d.publish_all();
    }
    void second_joins() {
      check(second.get() == 1, "the second result");
      resumed.set(resumed.get() + 1);
    }
  };
  auto& s = p.make<state>();
  s.d.set_limit(1);
  p.thread([&s] {  // the parent up to its first join; then, if it continues, the second scope's child
    if (!s.join.announce(1)) return;
    s.resume_after_first();
    s.second.set(1);
    if (s.d.pop() || s.d.pop_slow() || s.join.arrive()) s.second_joins();
  });
  p.thread([&s] {
    s.first.set(1);
    if (!s.join.arrive()) return;
    s.resume_after_first();
    s.second.set(1);
    if (s.d.pop() || s.d.pop_slow() || s.join.arrive()) s.second_joins();
  });
  p.thread([&s] {  // the thief that takes the parent from under the second child
    if (s.d.steal() == 0) return;
    if (s.join.announce(1)) s.second_joins();
  });
  p.finally([&s] { check(s.resumed.get() == 1, "exactly one resumes the parent"); });
}

/// A task, its child on one worker, and thieves: arrive, take_over and run_stolen_task.
struct task {
  word join;
  var<int> arena{0, "frame::arena"};
  var<int> frame{0, "the frame"};
  var<int> state{0, "frame::state"};  ///< how often it was stolen
  std::array<var<int>, 2> results;
  var<int> finished{0, "whoever resumes the parent"};
};

constexpr int its_arena = 7;

void take_over(task& t, int children) {
  check(t.arena.get() == its_arena, "whoever resumes a stolen parent gets its arena");
  t.state.set(0);
  t.join.reset();
  for (int i = 0; i < children; ++i) check(t.results[static_cast<std::size_t>(i)].get() == i + 1, "and its children's results");
  check(t.frame.get() > 0, "and its frame");
  t.finished.set(t.finished.get() + 1);
}

/// The child has ended on a worker whose deque holds its parent, unless it was stolen.
void child_ended(deque& d, task& t, bool holds_parent, int children, bool too_late = false) {
  if (d.pop() || d.pop_slow()) {  // not stolen from under this one
    if (t.state.get() == 0) {
      t.finished.set(t.finished.get() + 1);
    } else {
      if (t.join.announce(t.state.get())) take_over(t, children - 1);
    }
    return;
  }
  check(d.empty(), "an owner that loses a pop has an empty deque");
  d.rewind();
  if (holds_parent && !too_late) t.arena.set(its_arena);
  bool const last = t.join.arrive();
  if (too_late) t.arena.set(its_arena);
  if (last) take_over(t, children);
}

/// `second`: the thief's half of the task forks too, and there is another thief for it. `too_late`: a bug, the arena is handed over after
/// the child has arrived.
void arena_program(program& p, bool second, bool too_late = false) {
  struct state {
    deque first{4}, other{4};
    task t;
  };
  auto& s = p.make<state>();
  s.first.set_limit(1);
  s.other.set_limit(1);
  p.thread([&s, second, too_late] {
    s.t.frame.set(1);
    s.first.push(1);
    if (second) s.first.publish_all();  // a smaller search: the thief need not request it
    s.t.results[0].set(1);
    child_ended(s.first, s.t, true, 1, too_late);
  });
  p.thread([&s, second] {
    if (s.first.steal() == 0) return;
    s.t.state.set(s.t.state.get() + 1);
    s.t.frame.set(s.t.frame.get() + 1);
    if (second) {
      s.other.push(1);
      s.other.publish_all();
      s.t.results[1].set(2);
      child_ended(s.other, s.t, false, 2);
    } else if (s.t.join.announce(s.t.state.get())) {
      take_over(s.t, 1);
    }
  });
  if (second) {
    p.thread([&s] {
      if (s.other.steal() == 0) return;
      s.t.state.set(s.t.state.get() + 1);
      s.t.frame.set(s.t.frame.get() + 1);
      if (s.t.join.announce(s.t.state.get())) take_over(s.t, 2);
    });
  }
  p.finally([&s] { check(s.t.finished.get() == 1, "exactly one resumes the parent"); });
}

/// A fork of an ordinary function with a stolen branch: wait_if_stolen and run_stolen_branch. The stack is left for another one, on which
/// the branch learns which stack waits. `too_early`: a bug, the parent announces before its stack is saved.
void stack_program(program& p, bool too_early = false) {
  struct state {
    deque d{4};
    word join;
    var<int> waiting{0, "branch::waiting"};
    var<int> stack{0, "the stack that was left"};
    var<int> result{0, "the branch's result"};
    var<int> finished{0, "whoever resumes the parent"};
    void resume() {
      check(result.get() == 1, "the branch has ended");
      join.reset();
      stack.set(stack.get() + 1);
      finished.set(finished.get() + 1);
    }
  };
  auto& s = p.make<state>();
  s.d.set_limit(1);
  p.thread([&s, too_early] {
    s.stack.set(1);
    s.d.push(1);
    s.stack.set(2);  // the first half
    if (s.d.pop() || s.d.pop_slow()) {
      s.result.set(1);  // the branch was not stolen
      s.resume();
      return;
    }
    s.d.rewind();
    if (s.join.complete(1)) return s.resume();
    if (!too_early) s.stack.set(3);  // it is saved
    s.waiting.set(1);
    bool const turns_back = s.join.announce(1);
    if (too_early) s.stack.set(3);
    if (turns_back) s.resume();
  });
  p.thread([&s] {
    if (s.d.steal() == 0) return;
    s.result.set(1);
    if (!s.join.arrive()) return;
    check(s.waiting.get() == 1, "the last child learns who waits");
    check(s.stack.get() == 3, "on a stack that is saved");
    s.resume();
  });
  p.finally([&s] { check(s.finished.get() == 1, "exactly one resumes the parent"); });
}

std::vector<model::scenario> scenarios() {
  return {
      {"one child", [](program& p) { join_program(p, 1, 0, true); }},
      {"two children", [](program& p) { join_program(p, 2, 0, true); }},
      {"three children", [](program& p) { join_program(p, 3, 0, false); }},
      {"two children, one throws", [](program& p) { join_program(p, 2, 1, false); }},
      {"two children, both throw", [](program& p) { join_program(p, 2, 2, false); }},
      {"two children, a thief in the wrong mode", [](program& p) { join_program(p, 2, 1, false, 1); }},
      {"two scopes of a frame, with the deque", two_scopes, -1, 2},
      {"arena of a stolen task, with the deque", [](program& p) { arena_program(p, false); }},
      {"arena of a task stolen twice, with two deques", [](program& p) { arena_program(p, true); }, 2, 2},
      {"stack of a stolen branch, with the deque", [](program& p) { stack_program(p); }},
  };
}

class join_model : public testing::TestWithParam<std::size_t> {};

TEST_P(join_model, is_right) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::explore_and_report("join word", scenarios()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(every, join_model, testing::Range(std::size_t{0}, scenarios().size()));

TEST(join_bugs, an_arena_handed_over_after_the_arrival_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  EXPECT_FALSE(model::explore({}, [](program& p) { arena_program(p, false, true); }).ok());
}

TEST(join_bugs, a_stack_announced_before_it_is_saved_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  EXPECT_FALSE(model::explore({}, [](program& p) { stack_program(p, true); }).ok());
}

TEST(join_orders, each_is_needed) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::weaken_each(scenarios(), {"deque/join_word.hpp"}, {});
}

}  // namespace

// The shipped gates of pipelines, with carriers in the order of include/nopal/core/pipeline/typed_flow.hpp; and the tickets by which a
// carrier calls another, in the order of flow.hpp and src/pipeline/flow.cpp.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "explorer.hpp"
#include "nopal/core/pipeline/gates.hpp"
#include "sweep.hpp"

namespace {

using model::check;
using model::program;
using model::var;

template <class T>
class plain {
 public:
  explicit(false) plain(T v = T{}) : v_{v} {}
  plain(plain const&) = delete;
  plain& operator=(T v) {
    v_.set(v);
    return *this;
  }
  plain& operator=(plain const& p) { return *this = static_cast<T>(p); }
  operator T() const { return v_.get(); }  // NOLINT(google-explicit-constructor)
  T operator->() const { return v_.get(); }

 private:
  var<T> v_;
};
struct sync : model::sync {
  template <class T>
  using plain = ::plain<T>;
};

struct line {
  plain<line*> behind{nullptr};
  plain<int> item{-1};
};
using turn = nopal::core::basic_turn<sync, line>;
using serial_gate = nopal::core::basic_serial_gate<sync, line>;
using source_gate = nopal::core::basic_source_gate<sync, line>;
using ready_line = nopal::core::basic_ready_line<sync, line>;
using ticket_flag = nopal::core::basic_ticket_flag<sync>;

enum class flow_bug { none, leaves_after_passing, forgets_who_waits, ignores_a_late_line };

/// A pipeline of a source and one stage, in order or not.
struct flow {
  source_gate source;
  ready_line ready;
  serial_gate gate;
  std::array<turn, 2> turns;
  std::array<line, 2> lines;
  plain<int> next{0}, passed{0};
  std::size_t tokens;
  int items;
  bool in_order;
  flow_bug planted;

  flow(std::size_t n, int all, bool ordered, flow_bug b) : tokens{n}, items{all}, in_order{ordered}, planted{b} {
    turns[0].begin();
    for (std::size_t k = 0; k < n; ++k) source.put(lines[k], true);
  }
  turn& turn_of(int item) { return turns[static_cast<std::size_t>(item) % tokens]; }

  void carry() {
    for (line* free = nullptr; carry_next(free);) {
    }
  }
  bool carry_next(line*& free) {
    if (line* const l = ready.take(false); l != nullptr) {
      if (free != nullptr) source.put(*free, false);
      if (in_order) turn_of(l->item).enter();
      free = pass_through(*l);
      return true;
    }
    if (!source.enter(free, false)) return false;
    if (free == nullptr) free = source.take_line(false);
    if (free == nullptr) return source.leave(false) && planted != flow_bug::ignores_a_late_line;
    if (next == items) {
      source.close();
      return false;
    }
    free->item = static_cast<int>(next);
    next = next + 1;
    source.leave(false);
    line& l = *free;
    bool const enters = in_order ? turn_of(l.item).arrive(l, false) : gate.enter(l, false);
    free = enters ? pass_through(l) : nullptr;
    return true;
  }
  line* pass_through(line& l) {
    int const item = l.item;
    check(!in_order || passed == item, "items pass in order");
    passed = passed + 1;
    if (in_order && planted != flow_bug::leaves_after_passing) turn_of(item).leave();
    line* const n = in_order ? turn_of(item + 1).pass(false) : gate.leave(false);
    if (in_order && planted == flow_bug::leaves_after_passing) turn_of(item).leave();
    check(n == nullptr || n == &lines[0] || n == &lines[1], "a line waits, and nothing else");
    if (n != nullptr && planted != flow_bug::forgets_who_waits) ready.put(*n, false);
    return &l;
  }
};

void flow_program(program& p, unsigned carriers, std::size_t tokens, int items, bool in_order, flow_bug planted = flow_bug::none) {
  auto& f = p.make<flow>(tokens, items, in_order, planted);
  for (unsigned k = 0; k < carriers; ++k) p.thread([&f] { f.carry(); });
  p.finally([&f] { check(f.passed == f.items, "each item passes"); });
}

/// A carrier has a line that becomes ready, or a source that becomes free, or a line that does; and a ticket that a thief has just taken.
enum class news { ready, source, line };
enum class ticket_bug { none, looks_first, clears_last };

void ticket_program(program& p, news what, ticket_bug planted = ticket_bug::none) {
  struct all {
    flow f{2, 2, false, flow_bug::none};
    ticket_flag is_out;
    line* free = nullptr;
    bool offered = false, found = false;
  };
  auto& s = p.make<all>();
  s.is_out.begin();
  static_cast<void>(s.f.source.enter(nullptr, true));
  s.free = s.f.source.take_line(true);
  if (what == news::line) s.f.source.take_line(true);
  if (what != news::source) s.f.source.leave(true);
  p.thread([&s, what, planted] {
    if (planted == ticket_bug::looks_first) s.offered = s.is_out.begin();
    switch (what) {
      case news::ready: s.f.ready.put(*s.free, false); break;
      case news::source: s.f.source.leave(false); break;
      case news::line: s.f.source.put(*s.free, false); break;
    }
    if (planted != ticket_bug::looks_first) s.offered = s.is_out.begin();
  });
  p.thread([&s, what, planted] {
    if (planted != ticket_bug::clears_last) s.is_out.taken();
    if (what == news::ready) {
      s.found = s.f.ready.take(false) != nullptr;
    } else if (s.f.source.enter(nullptr, false)) {
      s.found = s.f.source.take_line(false) != nullptr;
      s.f.source.leave(false);
    }
    if (planted == ticket_bug::clears_last) s.is_out.taken();
  });
  p.finally([&s] { check(s.offered || s.found, "the thief finds what is there, or the ticket is offered again"); });
}

/// A carrier has offered the ticket of its line, leaves the line where its turn has not come, takes the ticket back, and looks. Another one
/// brings the turn, makes a second line ready, and offers the ticket of the first, unless it is out.
void taken_back_program(program& p, bool says_that_it_owns_the_line = false) {
  struct all {
    turn t;
    ready_line ready;
    std::array<line, 2> lines;
    ticket_flag is_out;
    bool has_come = false, offered = false, found = false;
  };
  auto& s = p.make<all>();
  p.thread([&s, says_that_it_owns_the_line] {
    s.is_out.begin();
    bool const inside = s.t.arrive(s.lines[0], false);
    s.is_out.taken_back(inside || says_that_it_owns_the_line);
    if (!inside) s.found = s.ready.take(false) != nullptr;
  });
  p.thread([&s] {
    if (s.t.pass(false) == nullptr) return;
    s.has_come = true;
    s.ready.put(s.lines[1], false);
    s.offered = s.is_out.begin();
  });
  p.finally([&s] { check(!s.has_come || s.offered || s.found, "the line is found, or the ticket is offered again"); });
}

/// Two carriers leave something to do and make way, while a third begins with the ticket that an earlier one has queued.
void makes_way_program(program& p, bool looks_first = false) {
  struct all {
    std::array<model::atomic<bool>, 2> left{};
    ticket_flag is_out;
    plain<int> link{0};  // the ticket's own, which the queue writes that has it
    std::array<bool, 2> queued{}, found{};
  };
  auto& s = p.make<all>();
  s.is_out.begin();
  for (std::size_t k = 0; k < 2; ++k) {
    p.thread([&s, k] {
      s.left[k].store(true, std::memory_order_relaxed);
      s.queued[k] = s.is_out.claim();
      if (s.queued[k]) s.link = 1;
    });
  }
  p.thread([&s, looks_first] {
    s.link = 2;
    if (!looks_first) s.is_out.taken();
    for (std::size_t k = 0; k < 2; ++k) s.found[k] = s.left[k].load(std::memory_order_relaxed);
    if (looks_first) s.is_out.taken();
  });
  p.finally([&s] {
    for (std::size_t k = 0; k < 2; ++k)
      check(s.queued[0] || s.queued[1] || s.found[k], "the thief finds what is there, or the ticket is queued again");
  });
}

/// A line becomes ready, is taken, and another one does, while a third carrier looks.
void ready_program(program& p) {
  struct all {
    ready_line ready;
    std::array<line, 2> lines;
    plain<int> next{0};
  };
  auto& s = p.make<all>();
  p.thread([&s] {
    s.lines[0].item = 1;
    s.ready.put(s.lines[0], false);
  });
  p.thread([&s] {
    line* const l = s.ready.take(false);
    if (l == nullptr) return;
    check(l->item == 1, "the first line comes first");
    s.lines[1].item = 2;
    s.ready.put(s.lines[1], false);
  });
  p.thread([&s] {
    line* const l = s.ready.take(false);
    check(l == nullptr || l->item == (l == &s.lines[0] ? 1 : 2), "it sees what is in the line");
  });
}

std::vector<model::scenario> scenarios() {
  return {
      {"two carriers, in order", [](program& p) { flow_program(p, 2, 2, 2, true); }},
      {"two carriers, in any order", [](program& p) { flow_program(p, 2, 2, 2, false); }},
      {"two carriers, one token", [](program& p) { flow_program(p, 2, 1, 2, true); }},
      {"two carriers, in order, places used again", [](program& p) { flow_program(p, 2, 2, 3, true); }, 2},
      {"two carriers, in any order, three items", [](program& p) { flow_program(p, 2, 2, 3, false); }, 2},
      {"a line becomes ready", [](program& p) { ticket_program(p, news::ready); }},
      {"two carriers make way", [](program& p) { makes_way_program(p); }},
      {"two lines become ready", ready_program},
      {"the source becomes free", [](program& p) { ticket_program(p, news::source); }},
      {"a line becomes free", [](program& p) { ticket_program(p, news::line); }},
      {"a ticket is taken back, and its line is another's", [](program& p) { taken_back_program(p); }},
      {"three carriers, in order", [](program& p) { flow_program(p, 3, 2, 3, true); }, 2, 2},
      {"three carriers, in any order", [](program& p) { flow_program(p, 3, 2, 3, false); }, 2, 2},
  };
}

class pipeline_model : public testing::TestWithParam<std::size_t> {};

TEST_P(pipeline_model, is_right) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::explore_and_report("pipeline", scenarios()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(every, pipeline_model, testing::Range(std::size_t{0}, scenarios().size()));

TEST(pipeline_bugs, a_turn_passed_before_the_item_has_left_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  EXPECT_FALSE(model::explore({}, [](program& p) { flow_program(p, 2, 2, 3, true, flow_bug::leaves_after_passing); }).ok());
}
TEST(pipeline_bugs, a_line_that_is_not_handed_on_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  EXPECT_FALSE(model::explore({}, [](program& p) { flow_program(p, 2, 2, 2, true, flow_bug::forgets_who_waits); }).ok());
}
TEST(pipeline_bugs, a_line_that_comes_while_another_looks_for_one_is_not_ignored) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  EXPECT_FALSE(model::explore({}, [](program& p) { flow_program(p, 2, 1, 2, true, flow_bug::ignores_a_late_line); }).ok());
}
TEST(pipeline_bugs, tickets_in_another_order_are_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  for (news const what : {news::ready, news::source, news::line}) {
    for (ticket_bug const b : {ticket_bug::looks_first, ticket_bug::clears_last}) {
      EXPECT_FALSE(model::explore({}, [=](program& p) { ticket_program(p, what, b); }).ok());
    }
  }
}

TEST(pipeline_bugs, a_ticket_of_anothers_line_taken_back_as_ones_own_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  EXPECT_FALSE(model::explore({}, [](program& p) { taken_back_program(p, true); }).ok());
}

TEST(pipeline_bugs, a_thief_that_looks_before_it_has_the_ticket_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  EXPECT_FALSE(model::explore({}, [](program& p) { makes_way_program(p, true); }).ok());
}

TEST(pipeline_orders, each_is_needed) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::weaken_each(
      scenarios(), {"pipeline/gates.hpp"},
      {{"put: compare_exchange acq_rel -> release",
        "without it a load may come before the exchange; the explorer runs them in the program's order, and its seq_cst loads "
        "see all seq_cst stores that ran before"}});
}

}  // namespace

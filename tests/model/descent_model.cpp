// What a thread that waits on top of its stack may take: only what descends from its join, while the owner of the deque ends one strand and
// begins the next. With the shipped deque.

#include <gtest/gtest.h>

#include <vector>

#include "explorer.hpp"
#include "nopal/core/deque/deque.hpp"
#include "nopal/core/stack/top_wait.hpp"
#include "sweep.hpp"

namespace {

using model::check;
using model::program;
using model::sync;
using deque = nopal::core::basic_deque<sync>;
using descent = nopal::core::basic_descent<sync>;

enum class descent_bug { none, looks_only, looks_twice, forgets_at_once };

struct descents {
  deque work{4};
  descent near;
  alignas(8) char joins[2][8]{};
  int taken[3]{};

  descents() { work.set_limit(1); }
  /// One strand of the owner: it descends from `join`, offers one entry, and takes it back unless a thief has it.
  void strand(void const* join, deque::entry e, bool offered) {
    near.set(join);
    work.push(e);
    if (offered) work.publish_all();
    if (work.pop() || work.pop_slow()) {
      ++taken[e];
    } else {
      work.rewind();
    }
  }
  /// The waiter, which may take entry 1 and no other.
  void steal(descent_bug planted) {
    deque::entry e = 0;
    if (planted == descent_bug::looks_only || planted == descent_bug::looks_twice) {
      if (near.look() != joins[0]) return;
      e = work.steal();
      if (planted == descent_bug::looks_twice && near.look() != joins[0]) {
        if (e != 0) ++taken[e];  // it is seen in time not to be ours
        return;
      }
    } else {
      if (!near.pin(joins[0])) return;
      if (planted == descent_bug::forgets_at_once) near.unpin();
      e = work.steal();
      if (planted == descent_bug::none) near.unpin();
    }
    check(e == 0 || e == 1, "what a waiter takes descends from its join");
    if (e != 0) ++taken[e];
  }
};

/// The owner begins with a child of the join, continues with a strand of another join, and, with `again`, with another child of the join.
void descent_program(program& p, bool offered, bool again, descent_bug planted) {
  auto& s = p.make<descents>();
  p.thread([&s, offered, again] {
    s.strand(s.joins[0], 1, offered);
    s.strand(s.joins[1], 2, offered);
    if (again) s.near.set(s.joins[0]);
    s.near.set(nullptr);
  });
  p.thread([&s, planted] { s.steal(planted); });
  p.finally([&s] {
    for (int e = 1; e < 3; ++e) check(s.taken[e] == 1, "each entry is taken once");
  });
}

std::vector<model::scenario> scenarios() {
  return {
      {"one strand after the other; a thief", [](program& p) { descent_program(p, false, false, descent_bug::none); }, 3},
      {"offered strands, the first join again; a thief", [](program& p) { descent_program(p, true, true, descent_bug::none); }},
  };
}

class descent_model : public testing::TestWithParam<std::size_t> {};

TEST_P(descent_model, is_right) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::explore_and_report("descent", scenarios()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(every, descent_model, testing::Range(std::size_t{0}, scenarios().size()));

TEST(descent_bugs, a_stranger_that_is_taken_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  auto const ok = [](descent_bug b) { return model::explore({}, [=](program& p) { descent_program(p, true, true, b); }).ok(); };
  EXPECT_FALSE(ok(descent_bug::looks_only));
  EXPECT_FALSE(ok(descent_bug::looks_twice));
  EXPECT_FALSE(ok(descent_bug::forgets_at_once));
}

TEST(descent_orders, each_is_needed) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  // What they forbid is that a theft is seen before the look that allowed it, or a push before the wait for the thief: both are loads that
  // read a store which comes after them, and the explorer runs none. The deque's own orders forbid the rest.
  std::string const later = "only a load that reads a later store would need it";
  model::weaken_each(scenarios(), {"stack/top_wait.hpp"},
                     {{"set: compare_exchange acq_rel -> acquire", later},
                      {"set: compare_exchange acq_rel -> release", later},
                      {"pin: compare_exchange acquire -> relaxed", later},
                      {"unpin: fetch_and release -> relaxed", later}});
}

}  // namespace

// The shipped deque under every interleaving and stale value, for short scripts.

#include "deque_model.hpp"

#include <gtest/gtest.h>

#include "sweep.hpp"

namespace {

using model::deque_script;
using nopal::core::places;

/// Scripts: see deque_model.hpp.
struct entry {
  deque_script script;
  int preemptions = -1;
  int size = 1;
};

std::vector<entry> const& entries() {
  static std::vector<entry> const all{
      {{"push, pop; a thief", "+-", {1}}},
      {{"growth; a thief with the old buffer", "+!+g+--", {1}, places::nested, 2}},
      {{"all stolen, rewound, pushed again; a thief", "+!e+", {1}}},
      {{"ring, push, pop; a thief", "+-", {1}, places::ring}},
      {{"ring, a place used again; a thief", "+!+", {1}, places::ring, 1}},
      {{"one public entry; a thief", "+!-", {1}}},
      {{"one private entry; two thieves", "+", {1, 1}}},
      {{"growth of private entries; a thief", "++g+--", {1}, places::nested, 2}},
      {{"two entries; a thief", "++--", {1}}},
      {{"two public entries; a thief", "++!--", {1}}},
      {{"nothing hidden; a thief", "+?+?--", {1}, places::nested, 4, false}},
      {{"requested at a fork; a thief", "++?--", {1}}},
      {{"half reclaimed; a thief", "+++!---", {1}}},
      {{"lost, rewound, pushed again; a thief", "+!-+-", {1}}},
      {{"two public entries, one reclaimed; a thief that comes twice", "++!-", {2}}},
      {{"half reclaimed, but not below the floor; a thief", "++f++!----", {1}}, -1, 2},
      {{"lost, rewound; a thief that comes twice", "+-+-", {2}}, -1, 2},
      {{"lost and given again; a thief", "+!-+!-", {1}}, -1, 2},
      {{"requested, answered; a thief that comes twice", "++?--", {2}}, -1, 2},
      {{"a public entry, a private one; two thieves", "+!+", {1, 1}}, -1, 2},
      {{"push, pop; two thieves", "+-", {1, 1}}, -1, 2},
      {{"two public entries; two thieves", "++!--", {1, 1}}, 2, 3},
      {{"lost or popped, another mode, pushed again; a thief", "+!-m+-", {1}}},
      {{"stolen, another mode, pushed again; a thief", "+!m+", {1}}},
      {{"private, popped, another mode, pushed again; a thief", "m+-m+-", {1}}},
      {{"another mode; a thief that comes twice", "+!-m+!-", {2}}, -1, 2},
      {{"ring, a place used again; a thief that comes twice", "+!+!+!", {2}, places::ring, 2}, -1, 2},
  };
  return all;
}

std::vector<model::scenario> scenarios() {
  std::vector<model::scenario> all;
  for (entry const& e : entries()) {
    all.push_back({e.script.name, [&e](model::program& p) { model::deque_program(e.script, p); }, e.preemptions, e.size});
  }
  return all;
}

class deque_model : public testing::TestWithParam<std::size_t> {};

TEST_P(deque_model, is_right) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::explore_and_report("deque", scenarios()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(every, deque_model, testing::Range(std::size_t{0}, entries().size()));

// With entries left, a thief would read another place, and its exchange would succeed.
TEST(deque_bugs, a_rewind_with_entries_left_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  deque_script const s{"rewind", "+-++!-R", {1}};
  model::result const r = model::explore({}, [&](model::program& p) { model::deque_program(s, p); });
  EXPECT_FALSE(r.ok()) << r.report();
}

// With entries left, a thief would get the mode of later ones.
TEST(deque_bugs, another_mode_with_entries_left_is_caught) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  deque_script const s{"mode", "+!M+", {1}};
  model::result const r = model::explore({}, [&](model::program& p) { model::deque_program(s, p); });
  EXPECT_FALSE(r.ok()) << r.report();
}

TEST(deque_orders, each_is_needed) {
  NOPAL_MODEL_SKIP_IF_SLOW();
  model::weaken_each(scenarios(), {"deque/deque.hpp", "base/spin_lock.hpp", "architecture/instructions.hpp"}, {});
}

}  // namespace

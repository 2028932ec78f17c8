// The deque that ships under every interleaving and stale value, for short scripts.

#include "deque_model.hpp"

#include <gtest/gtest.h>

namespace {

using model::deque_script;

class deque_model : public testing::TestWithParam<deque_script> {};

TEST_P(deque_model, is_right) {
  deque_script const& s = GetParam();
  model::result const r = model::explore({}, [&](model::program& p) { model::deque_program(s, p); });
  EXPECT_TRUE(r.ok()) << r.report();
  EXPECT_TRUE(r.complete) << r.report();
  RecordProperty("executions", std::to_string(r.executions));
}

INSTANTIATE_TEST_SUITE_P(nested, deque_model,
                         testing::Values(deque_script{"push_pop", "+-", {1}}, deque_script{"two_entries", "++--", {1}},
                                         deque_script{"asked", "++?--", {1}}, deque_script{"given", "++!--", {1}}),
                         [](auto const& i) { return std::string{i.param.name}; });

}  // namespace

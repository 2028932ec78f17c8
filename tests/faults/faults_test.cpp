// Each scenario with each of its calls failing in turn: every_site.hpp and docs/faults.md list the allowed results.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "../scale.hpp"
#include "every_site.hpp"
#include "scenarios.hpp"

namespace {

using namespace test::faults;

class faults : public testing::TestWithParam<scenario> {
 protected:
  static void expect_right(outcome const& o) {
    for (std::string const& w : o.wrong) ADD_FAILURE() << w;
  }
};

TEST_P(faults, of_every_single_call) {
  char const* const all = std::getenv("NOPAL_FAULTS_ALL");
  outcome const o = fail_each(GetParam(), all != nullptr ? 0 : test::sanitized ? 2 : 8);
  expect_right(o);
  EXPECT_GT(o.injected, 0u);
  if (all != nullptr) {
    std::printf("%u runs, %u with faults: %u results, %u exceptions, %u ends\n", o.runs, o.injected, o.results, o.exceptions, o.ends);
    for (unsigned k = 0; k < kinds; ++k) {
      if (o.calls[k] != 0) std::printf("  %s: %llu\n", name(static_cast<kind>(k)), static_cast<unsigned long long>(o.calls[k]));
    }
  }
}

TEST_P(faults, of_a_kernel_without_membarrier) {
  outcome const o = fail_all(GetParam(), of(kind::membarrier));
  expect_right(o);
  EXPECT_EQ(o.exceptions, 0u);
}

TEST_P(faults, of_a_kernel_without_futexes) {
  outcome const o = fail_all(GetParam(), of(kind::futex_wait, kind::futex_wake));
  expect_right(o);
  EXPECT_EQ(o.exceptions, 0u);
}

TEST_P(faults, of_any_kind_at_random) {
  constexpr kind_set any = everything & ~of(kind::futex_wake, kind::membarrier);
  for (std::uint64_t seed = 1; seed <= (test::sanitized ? 1 : 4); ++seed) {
    SCOPED_TRACE(seed);
    expect_right(fail_at_random(GetParam(), any, seed % 2 == 0 ? 5 : 50, seed));
  }
}

INSTANTIATE_TEST_SUITE_P(each, faults, testing::ValuesIn(scenarios()),
                         [](testing::TestParamInfo<scenario> const& s) { return s.param.name; });

}  // namespace

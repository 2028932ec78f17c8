// Probabilistic concurrency testing: a bug of depth 2 is found at least as often as the bound says. The seeds are the same in every run.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "nopal/native.hpp"
#include "nopal/stats.hpp"

namespace {

// A place where the turn may change.
void a_switch() {
  nopal::parallel_invoke([] {}, [] {});
}

// An update is lost if the other half's is between its read and its write: two orders between two workers' steps.
void deposit(long volatile& balance) {
  for (int k = 0; k < 3; ++k) a_switch();
  long const before = balance;
  a_switch();
  balance = before + 1;
  for (int k = 0; k < 3; ++k) a_switch();
}

constexpr unsigned workers = 2;
constexpr std::uint64_t steps = 100;
constexpr unsigned runs = 300;

struct outcome {
  unsigned found = 0, kept = 0;
};

outcome run_all(char const* schedule) {
  ::setenv("NOPAL_SCHEDULE", schedule, 1);
  outcome o;
  for (unsigned k = 0; k < runs; ++k) {  // each pool has a seed of its own, by its number
    nopal::pool pool{{.workers = workers}};
    long volatile balance = 0;
    pool.run([&] { nopal::parallel_invoke([&] { deposit(balance); }, [&] { deposit(balance); }); });
    if (pool.stats().lost_turns != 0) continue;  // the machine kept a worker from its turn
    ++o.kept;
    o.found += balance != 2;
  }
  ::unsetenv("NOPAL_SCHEDULE");
  return o;
}

TEST(pct, finds_a_bug_of_depth_two_as_often_as_its_bound_says) {
  std::string log = testing::TempDir() + "nopal_pct_XXXXXX";
  int const file = ::mkstemp(log.data());
  ASSERT_GE(file, 0);
  ::close(file);
  ::setenv("NOPAL_SCHEDULE_LOG", log.c_str(), 1);
  outcome const o = run_all("pct:0:d=2:k=100");
  ::unsetenv("NOPAL_SCHEDULE_LOG");
  // The bound holds for runs of at most k steps.
  std::uint64_t most = 0, ends = 0;
  std::ifstream lines{log};
  for (std::string line; std::getline(lines, line);) {
    unsigned pool = 0, of = 0;
    unsigned long long decisions = 0, lost = 0;
    if (std::sscanf(line.c_str(), "end\t%u\t%u\t%llu\t%llu", &pool, &of, &decisions, &lost) != 4) continue;
    ++ends;
    EXPECT_EQ(of, workers);
    if (lost == 0 && decisions > most) most = decisions;
  }
  ::unlink(log.c_str());
  EXPECT_EQ(ends, runs);
  EXPECT_LE(most, steps);
  EXPECT_GE(most, 8u);
  EXPECT_GE(o.kept, runs / 2);
  // 1 / (n k^(d-1))
  EXPECT_GE(o.found * workers * steps, o.kept) << o.found << " of " << o.kept;
  RecordProperty("found", static_cast<int>(o.found));
}

// With a depth of 1 no priority changes: a worker runs until it cannot continue, and neither half interrupts the other.
TEST(pct, has_no_switch_more_than_its_depth_allows) {
  outcome const o = run_all("pct:0:d=1:k=100");
  EXPECT_GE(o.kept, runs / 2);
  EXPECT_EQ(o.found, 0u);
}

}  // namespace

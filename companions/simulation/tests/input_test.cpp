// What the environment and the options may say of a simulated machine, and what is rejected.

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "simulated_pool.hpp"

namespace {

std::string refusal(nopal::pool_options const& o) {
  try {
    nopal::pool const p{o};
    return "";
  } catch (std::invalid_argument const& e) {
    return e.what();
  }
}

std::string refused_costs(std::string const& text) {
  with_costs const c{text};
  return refusal(machine("2"));
}

testing::AssertionResult says(std::string const& text, std::string const& word) {
  if (text.find(word) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not say " << word;
}

TEST(machine, has_a_worker_for_each_cpu) {
  with_costs const c{"report=/dev/null"};
  EXPECT_EQ(nopal::pool{machine("5")}.workers(), 5U);
  EXPECT_EQ(nopal::pool{machine("2x7")}.workers(), 14U);
  nopal::pool_options o = machine("2x7");
  o.workers = 3;
  EXPECT_EQ(nopal::pool{o}.workers(), 3U);
}

TEST(machine, may_be_in_hwlocs_words) {
  with_costs const c{"report=/dev/null"};
  try {
    EXPECT_EQ(nopal::pool{machine("pack:2 core:3 pu:2")}.workers(), 12U);
  } catch (std::invalid_argument const& e) {
    EXPECT_TRUE(says(e.what(), "built without hwloc"));
  }
}

TEST(machine, comes_from_the_environment) {
  with_costs const c{"report=/dev/null"};
  ::setenv("NOPAL_SCHEDULE", "simulate:2x3", 1);
  nopal::pool const p;
  ::unsetenv("NOPAL_SCHEDULE");
  EXPECT_EQ(p.workers(), 6U);
  EXPECT_TRUE(nopal::simulated(p).has_value());
}

TEST(machine, is_refused_where_it_is_none) {
  for (char const* const none : {"0", "x", "2x", "x2", "2x0", "0x2", "1x2x3", "99999999999999999999"}) {
    EXPECT_TRUE(says(refusal(machine(none)), std::string{"the simulated machine \""} + none + "\" is no machine; write a number of CPUs"));
  }
  EXPECT_TRUE(says(refusal(machine("two")), "the simulated machine \"two\" "));
  EXPECT_TRUE(says(refusal(machine("16385")), "has 16385 CPUs, more than the limit of 16384"));
  EXPECT_TRUE(says(refusal(machine("1x16385")), "has 1 x 16385 CPUs, more than the limit of 16384"));
  EXPECT_TRUE(says(refusal(machine("200x200")), "has 200 x 200 CPUs, more than the limit of 16384"));
  EXPECT_TRUE(says(refusal(machine("pack:1000 [numa] core:1000 pu:2")), "more than the limit of 16384"));  // in no time
  EXPECT_TRUE(says(refusal(machine("pu:100000")), "more than the limit of 16384"));
  nopal::pool_options both = machine("2");
  both.schedule = nopal::schedule::steal_always;
  EXPECT_TRUE(says(refusal(both), "a schedule that is not free"));
  nopal::pool_options pinned = machine("2");
  pinned.pin = true;
  EXPECT_TRUE(says(refusal(pinned), "pin"));
  ::setenv("NOPAL_SCHEDULE", "simulate:", 1);
  EXPECT_TRUE(says(refusal({}), "simulate:2x56"));
  ::unsetenv("NOPAL_SCHEDULE");
}

TEST(costs, are_refused_with_what_to_write) {
  EXPECT_TRUE(says(refused_costs("steel=3"), "\"steel=3\", which says nothing"));
  EXPECT_TRUE(says(refused_costs("steal=fast"), "which is no number"));
  EXPECT_TRUE(says(refused_costs("steal="), "which is no number"));
  EXPECT_TRUE(says(refused_costs("steal=1/"), ""));
  EXPECT_TRUE(says(refused_costs("wake=-1"), "below 0"));
  EXPECT_TRUE(says(refused_costs("wake=1e10"), "above a second"));
  EXPECT_TRUE(says(refused_costs("wake=nan"), "below 0 or above"));
  EXPECT_TRUE(says(refused_costs("clock=sun"), "clock=measured"));
  EXPECT_TRUE(says(refused_costs("@/no/such/file"), "cannot be read"));
}

struct temporary {
  std::filesystem::path const path = std::filesystem::temp_directory_path() / ("nopal-simulation-" + std::to_string(::getpid()));
  ~temporary() { std::filesystem::remove(path); }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream{path}.rdbuf();
    return all.str();
  }
};

TEST(costs, come_from_a_file) {
  temporary const t;
  std::ofstream{t.path} << "# measured\nclock=given\nwake_up=0\nreport=/dev/null\n";
  std::string words = "@";
  words += t.path.string();
  with_costs const c{words};
  nopal::pool p{machine("1")};
  p.run([] { nopal::simulate_work(std::chrono::milliseconds{2}); });
  EXPECT_EQ(nopal::simulated(p)->working, std::chrono::milliseconds{2});
}

TEST(report, is_a_line_of_json_for_each_pool) {
  temporary const t;
  {
    std::string words = "clock=given,report=";
    words += t.path.string();
    with_costs const c{words};
    for (int k = 1; k <= 2; ++k) {
      nopal::pool p{machine("1")};
      p.run([=] { nopal::simulate_work(std::chrono::nanoseconds{k * 1000}); });
    }
  }
  EXPECT_TRUE(says(t.text(), "{\"workers\":1,\"elapsed\":"));
  EXPECT_TRUE(says(t.text(), "\"working\":1000,"));
  EXPECT_TRUE(says(t.text(), "\"working\":2000,"));
  EXPECT_TRUE(says(t.text(), "}\n{\"workers\":1,\"elapsed\":"));
}

TEST(report, is_in_words_for_people) {
  nopal::simulation_report r;
  r.workers = 4;
  r.elapsed = std::chrono::milliseconds{2};
  r.working = std::chrono::milliseconds{6};
  r.distances = {1, 2};
  r.steals = {7, 3};
  EXPECT_TRUE(says(to_text(r), "4 workers: T_P = 2.000 ms, work 6.000 ms, 3.00 workers busy, efficiency 0.750"));
  EXPECT_TRUE(says(to_text(r), "steals by distance: 1: 7 2: 3"));
  EXPECT_EQ(to_text(r).find("not to be trusted"), std::string::npos);
  EXPECT_EQ(to_text(r).find("other programs"), std::string::npos);
  r.disturbed = std::chrono::milliseconds{1};
  EXPECT_TRUE(says(to_text(r), "for 1.000 ms other programs had the CPU"));
  r.lost_turns = 1;
  EXPECT_TRUE(says(to_text(r), "not to be trusted"));
}

}  // namespace

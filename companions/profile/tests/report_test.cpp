// The report of a profile: by place, in calls and in time, as a table and as JSON; and what it rejects.

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "embedding/child.hpp"
#include "in_calls.hpp"

namespace {

using nopal_test::in_calls;

constexpr unsigned first_line = __LINE__;  // the places below tell forks apart
constexpr unsigned invoke_line = first_line + 8;
constexpr unsigned fork_line = first_line + 13;
constexpr unsigned call_line = first_line + 14;
constexpr unsigned scope_line = first_line + 20;
long both(int n) {
  if (n == 0) return 1;
  long a = 0, b = 0;
  nopal::parallel_invoke([&] { a = both(n - 1); }, [&] { b = both(n - 1); });  // invoke_line
  return a + b;
}
nopal::task<> mixed(int n) {
  if (n == 0) co_return;
  co_await nopal::fork(mixed, n - 1);  // fork_line
  co_await nopal::call(mixed, 0);      // call_line
  both(3);
  co_await nopal::join;
}
void loop(int n) {
  nopal::scope s;
  for (int i = 0; i < n; ++i) s.fork([] {});  // scope_line
}

nopal::profile_site const* at_line(nopal::profile_report const& r, unsigned line) {
  for (nopal::profile_site const& s : r.sites) {
    if (s.line == line && s.file.ends_with("report_test.cpp")) return &s;
  }
  return nullptr;
}

TEST(profile_report, tells_places_apart) {
  for (unsigned const workers : {1U, 2U, 8U}) {
    auto const r = in_calls(workers, mixed, 10);
    auto const* const forked = at_line(r, fork_line);
    auto const* const called = at_line(r, call_line);
    auto const* const invoked = at_line(r, invoke_line);
    ASSERT_TRUE(forked != nullptr && called != nullptr && invoked != nullptr) << r.table();
    EXPECT_EQ(10, forked->work);
    EXPECT_EQ(10U, forked->procedures);
    EXPECT_EQ(10, called->work);
    EXPECT_EQ(140, invoked->work);
    EXPECT_NE(std::string::npos, forked->function.find("mixed(int)")) << forked->function;
    EXPECT_NE(std::string::npos, invoked->function.find("both(int)")) << invoked->function;
    // The longest path: nine forks down to the last task that calls, and there the called one and three levels.
    EXPECT_EQ(9, forked->span);
    EXPECT_EQ(1, called->span);
    EXPECT_EQ(3, invoked->span);
    EXPECT_EQ(14, r.span);
    EXPECT_EQ(161, r.work);
  }
}

constexpr unsigned before_invokes = __LINE__ + 2;
void two_to_eight() {
  auto const f = [] {};
  nopal::parallel_invoke(f, f);
  nopal::parallel_invoke(f, f, f);
  nopal::parallel_invoke(f, f, f, f);
  nopal::parallel_invoke(f, f, f, f, f);
  nopal::parallel_invoke(f, f, f, f, f, f);
  nopal::parallel_invoke(f, f, f, f, f, f, f);
  nopal::parallel_invoke(f, f, f, f, f, f, f, f);
}
TEST(profile_report, knows_the_place_of_two_to_eight_functions) {
  auto const r = in_calls(2, two_to_eight);
  for (unsigned n = 2; n <= 8; ++n) {
    auto const* const site = at_line(r, before_invokes + n - 1);
    ASSERT_NE(site, nullptr) << n << '\n' << r.table();
    EXPECT_EQ(site->procedures, n);
  }
}

nopal::profile_report asked(unsigned workers, unsigned line, std::string const& file = "report_test.cpp") {
  nopal::pool_options options;
  options.workers = workers;
  nopal::pool pool{options};
  nopal::profile p{{.unit = nopal::profile_unit::calls, .what_if = file + ':' + std::to_string(line)}};
  pool.run(mixed, 10);
  pool.run(loop, 5);
  p.stop();
  return p.report();
}

// mixed(n) has a span of 1 + max(mixed(n - 1), 1 + both), and loop has 2, or 6 if it is serial.
TEST(profile_report, tells_what_were_if) {
  for (unsigned const workers : {1U, 2U, 8U}) {
    auto const invoke = asked(workers, invoke_line);
    EXPECT_EQ(167, invoke.work);
    EXPECT_EQ(27, invoke.free_work);
    EXPECT_EQ(14 + 2, invoke.span);
    EXPECT_EQ(11 + 2, invoke.free_span);
    EXPECT_EQ(25 + 2, invoke.serial_span);
    auto const fork = asked(workers, fork_line);
    EXPECT_EQ(157, fork.free_work);
    EXPECT_EQ(5 + 2, fork.free_span);
    EXPECT_EQ(51 + 2, fork.serial_span);
    auto const scope = asked(workers, scope_line);
    EXPECT_EQ(162, scope.free_work);
    EXPECT_EQ(14 + 1, scope.free_span);
    EXPECT_EQ(14 + 6, scope.serial_span);
    EXPECT_NE(std::string::npos, scope.table().find("were serial")) << scope.table();
    EXPECT_NE(std::string::npos, scope.json().find("\"free_span\": 15, \"serial_span\": 20}")) << scope.json();
  }
  EXPECT_EQ("", asked(1, 1).asked);
}

TEST(profile_report, knows_no_serial_fibers) {
  nopal::pool pool{};
  nopal::profile p{{.unit = nopal::profile_unit::calls, .what_if = "report_test.cpp:" + std::to_string(invoke_line)}};
  pool.run([] {
    nopal::counter left;
    nopal::spawn(left, [] { both(3); });
    nopal::wait_for(left);
  });
  p.stop();
  EXPECT_TRUE(std::isnan(p.report().serial_span));
  EXPECT_EQ(2, p.report().free_span);
  EXPECT_NE(std::string::npos, p.report().json().find("\"serial_span\": null"));
}

// More forks than a path keeps without merging.
TEST(profile_report, keeps_places_on_long_paths) {
  auto const r = in_calls(2, [] {
    for (int i = 0; i < 3000; ++i) {
      both(1);
      loop(1);
    }
  });
  EXPECT_EQ(6001, r.span);
  ASSERT_NE(nullptr, at_line(r, invoke_line));
  ASSERT_NE(nullptr, at_line(r, scope_line));
  EXPECT_EQ(3000, at_line(r, invoke_line)->span);
  EXPECT_EQ(3000, at_line(r, scope_line)->span);
}

TEST(profile_report, predicts_between_its_bounds) {
  nopal::profile_report r;
  r.work = 1000;
  r.span = 100;
  r.burdened_span = 200;
  EXPECT_EQ(10, r.parallelism());
  EXPECT_EQ(5, r.burdened_parallelism());
  EXPECT_EQ(4, r.greatest_speedup(4));
  EXPECT_EQ(10, r.greatest_speedup(40));
  EXPECT_DOUBLE_EQ(1000 / (1000. / 4 + 1.7 * 200), r.expected_speedup(4));
}

// No time is checked: a loaded machine may take any.
TEST(profile_report, in_time_is_consistent) {
  nopal::pool pool{};
  nopal::profile p{{.burden = 1000}};
  pool.run(both, 12);
  p.stop();
  auto const r = p.report();
  EXPECT_GT(r.work, 0);
  EXPECT_GT(r.span, 0);
  EXPECT_LE(r.span, r.work * (1 + 1e-9));
  EXPECT_LE(r.span, r.burdened_span);
  EXPECT_NEAR(1000, r.burden, 10);
  // Twelve continuations, or returns, are on every path from the root to a leaf.
  EXPECT_GE(r.burdened_span, 12 * 990);
  double span = 0, work = 0;
  for (auto const& s : r.sites) {
    span += s.span;
    work += s.work;
  }
  EXPECT_NEAR(r.span, span, r.span * 1e-6);
  EXPECT_NEAR(r.work, work, r.work * 1e-6);
  ASSERT_NE(nullptr, at_line(r, invoke_line));
  EXPECT_EQ(8190U, at_line(r, invoke_line)->procedures);
}

// The first regions of the process that need the burden, before any other test of this file does. Neither waits for the other while that runs
// above it on their one worker.
TEST(profile_report, measures_the_burden_for_two_fibers_of_one_worker) {
  nopal::pool one{{.workers = 1}};
  one.run([] {
    nopal::counter left;
    for (int k = 0; k < 2; ++k) {
      nopal::spawn(left, [] {
        nopal::profile p;
        p.stop();
        EXPECT_GT(p.report().burden, 0);
      });
    }
    nopal::wait_for(left);
  });
}

TEST(profile_report, measures_the_burden_of_this_machine) {
  nopal::profile p;
  p.stop();
  EXPECT_GT(p.report().burden, 0);
}

TEST(profile_report, is_printed) {
  auto const r = in_calls(1, both, 3);
  std::string const table = r.table();
  EXPECT_NE(std::string::npos, table.find("report_test.cpp:" + std::to_string(invoke_line))) << table;
  EXPECT_NE(std::string::npos, table.find("parallelism")) << table;
  std::string const json = r.json();
  EXPECT_NE(std::string::npos, json.find("\"unit\": \"calls\",\n  \"work\": 15,\n  \"span\": 4,\n")) << json;
  EXPECT_NE(std::string::npos, json.find("\"line\": " + std::to_string(invoke_line) + ", \"procedures\": 14, \"work\": 14, \"span\": 3}"))
      << json;
}

TEST(profile_report, refuses) {
  nopal::profile p{{.unit = nopal::profile_unit::calls}};
  EXPECT_THROW(static_cast<void>(p.report()), std::logic_error);
  EXPECT_THROW(nopal::profile{{.unit = nopal::profile_unit::time}}, std::invalid_argument);
  EXPECT_THROW((nopal::profile{{.unit = nopal::profile_unit::calls, .burden = std::numeric_limits<double>::quiet_NaN()}}),
               std::invalid_argument);
  EXPECT_THROW((nopal::profile{{.unit = nopal::profile_unit::calls, .burden = 1e30}}), std::invalid_argument);
  for (char const* const place : {"sort.cpp", ":3", "sort.cpp:", "sort.cpp:0", "sort.cpp:x", "sort.cpp:-1"}) {
    EXPECT_THROW((nopal::profile{{.unit = nopal::profile_unit::calls, .what_if = place}}), std::invalid_argument) << place;
  }
  nopal::pool{}.run(both, 3);
  p.stop();
  EXPECT_EQ(15, p.report().work);  // what was rejected has not changed it
}

#if !NOPAL_TSAN  // it does not follow the child of a process with threads

// A worker ends procedures and counts counters down, under locks of the profile, while another thread forks: the child finds none taken.
TEST(profile_fork, leaves_no_lock_taken_in_the_child) {
  nopal::profile p{{.unit = nopal::profile_unit::calls, .burden = 0}};
  nopal::pool one{{.workers = 1}};
  std::atomic<bool> ends{false};
  auto busy = one.submit([&] {
    while (!ends) {
      nopal::parallel_invoke([] {}, [] {});
      nopal::counter last{1};
      last.done();
    }
  });
  for (int k = 0; k < 200 && !HasFailure(); ++k) {
    test::ended const e = test::in_child([] {
      nopal::profile own{{.unit = nopal::profile_unit::calls, .burden = 0, .what_if = "report_test.cpp:1"}};
      nopal::counter last{1};
      last.done();
      own.stop();
      static_cast<void>(own.report());
    });
    EXPECT_EQ(e.code, 0) << "signal " << e.signal << ", said: " << e.said;
  }
  ends = true;
  busy.get();
  p.stop();
}

#endif

}  // namespace

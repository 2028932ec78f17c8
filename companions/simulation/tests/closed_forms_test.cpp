// Programs that scale badly on purpose: a closed form gives the time of each, and the simulation agrees within a twentieth.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>

#include "simulated_pool.hpp"

namespace {

using namespace std::chrono_literals;

constexpr char const* nothing_costs = "report=/dev/null,look=0,steal=0,wake=0,wake_up=0,clock=";

// Takes so many units: quarters of a millisecond if the clock is given, else as long as that takes.
void work(int units) {
  nopal::simulate_work(units * 250us);
  if (std::getenv("NOPAL_SIMULATION") == std::string{nothing_costs} + "given") return;
  std::uint64_t volatile x = 1;
  for (int k = 0; k < units * 500'000; ++k) x = x * 3 + 1;
}

nopal::simulation_report run_on(unsigned workers, std::string const& clock, std::function<void()> const& program) {
  with_costs const c{nothing_costs + clock};
  nopal::pool p{machine(std::to_string(workers))};
  p.run(program);
  return nopal::simulated(p).value();
}

// `form`: how many units the program takes on so many workers; on one, `all` that it has. If NOPAL_TEST_QUIET says that nothing else runs
// on this machine, the test also measures work. If other programs have had the CPU and its caches, it runs again; if each time, it checks
// nothing.
void expect_form(int all, std::function<double(int workers)> const& form, std::function<void()> const& program) {
  for (unsigned const workers : {2U, 8U, 16U}) {
    double const should_be = form(static_cast<int>(workers));
    auto const is_near = [=](double units) { return std::abs(units - should_be) <= should_be / 20; };
    double const given = static_cast<double>(run_on(workers, "given", program).elapsed.count()) / 250'000;
    EXPECT_TRUE(is_near(given)) << given << " for " << should_be << " on " << workers << " workers";
    if (workers == 16U || std::getenv("NOPAL_TEST_QUIET") == nullptr) continue;  // on 16 forks and steals cost a part of the whole
    double measured = 0;
    bool is_quiet = false;
    for (int tries = 0; tries < 6 && !is_near(measured); ++tries) {
      nopal::simulation_report const one = run_on(1, "measured", program);
      nopal::simulation_report const r = run_on(workers, "measured", program);
      measured = static_cast<double>(r.elapsed.count()) / static_cast<double>(one.elapsed.count()) * all;
      is_quiet = is_quiet || (r.disturbed < r.working / 20 && one.disturbed < one.working / 20);
    }
    if (!is_quiet && !is_near(measured)) GTEST_SKIP() << "other programs had the CPU in each run";
    EXPECT_TRUE(is_near(measured)) << measured << " for " << should_be << " on " << workers << " workers, measured";
  }
}

TEST(closed_form, of_a_program_that_is_half_serial) {
  expect_form(
      384, [](int p) { return 192 + 192.0 / p; },
      [] {
        work(192);
        nopal::parallel_for(0, 192, [](int) { work(1); }, nopal::grain{1});
      });
}

TEST(closed_form, of_a_program_below_one_lock) {
  expect_form(
      240, [](int) { return 240; },
      [] {
        nopal::mutex m;
        nopal::parallel_for(
            0, 60,
            [&](int) {
              std::lock_guard const guard{m};
              work(4);
            },
            nopal::grain{1});
      });
}

TEST(closed_form, of_a_pipeline) {
  expect_form(
      480, [](int p) { return p == 2 ? 248 : 252; },
      [] {
        nopal::channel<int> first{4}, second{4};
        nopal::counter left;
        nopal::spawn(left, [&] {
          for (int k = 0; k < 20; ++k) {
            work(4);
            first.push(k);
          }
          first.close();
        });
        nopal::spawn(left, [&] {
          for (int const k : first) {
            work(12);
            second.push(k);
          }
          second.close();
        });
        nopal::spawn(left, [&] {
          while (second.pop().has_value()) work(8);
        });
        nopal::wait_for(left);
      });
}

TEST(closed_form, of_a_chain_of_loops) {
  expect_form(
      1600, [](int p) { return 1600.0 / p; },
      [] {
        for (int k = 0; k < 2; ++k) nopal::parallel_for(0, 800, [](int) { work(1); }, nopal::grain{1});
      });
}

TEST(closed_form, of_an_imbalance) {
  expect_form(
      320, [](int) { return 160; },
      [] { nopal::parallel_invoke([] { work(160); }, [] { nopal::parallel_for(0, 160, [](int) { work(1); }, nopal::grain{1}); }); });
}

}  // namespace

// nopal::core, without any companion: all front ends work, reports name no function, and options that need a companion give a message that
// names it.

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "fib.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"

namespace {

std::string refusal(nopal::experimental_options const& o) {
  try {
    nopal::pool const p{{.workers = 1, .experimental = o}};
  } catch (std::invalid_argument const& e) {
    return e.what();
  }
  return "accepted";
}

TEST(core_alone, runs_all_front_ends_in_each_other) {
  nopal::pool pool{{.workers = 3}};
  EXPECT_EQ(pool.run(test::fib_task, 20), 6765);
  std::vector<long> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::atomic<long> sum = 0;
  pool.run([&] {
    nopal::counter done;
    nopal::spawn(done, [&] { sum += nopal::reduce(numbers); });
    nopal::scope s;
    s.fork([&] { nopal::parallel_invoke([&] { sum += nopal::sync_wait(test::fib_task, 10); }, [&] { sum += 1; }); });
    nopal::wait_for(done);
    s.join();
  });
  EXPECT_EQ(sum, 49'995'000 + 55 + 1);
}

TEST(core_alone, reports_what_waits_without_names_of_functions) {
  nopal::pool pool{{.workers = 1}};
  nopal::counter gate{1};
  std::string said;
  pool.run([&] {
    nopal::counter done;
    nopal::spawn(done, [&] { nopal::wait_for(gate); });
    nopal::yield();
    said = pool.report();
    gate.done();
    nopal::wait_for(done);
  });
  EXPECT_NE(said.find("1 native stack waits"), std::string::npos) << said;
  EXPECT_EQ(said.find("called by"), std::string::npos) << said;
}

TEST(core_alone, names_the_companion_that_an_option_needs) {
  EXPECT_EQ(refusal({.simulate = "2x4"}),
            "nopal::pool: simulate = \"2x4\" needs nopal's companion simulation, and this program is linked without it; link nopal::nopal");
  EXPECT_EQ(refusal({.schedule = nopal::schedule::steal_always}),
            "nopal::pool: a schedule that is not free needs nopal's companion simulation, and this program is linked without it; link "
            "nopal::nopal");
  EXPECT_THROW((nopal::pool{{.workers = 1, .trace = "/dev/null"}}), std::invalid_argument);
  EXPECT_EQ(refusal({}), "accepted");
}

}  // namespace

// A program with the options of every benchmark of nopal's, which are given to a pool in the same way. It runs a small tree of tasks,
// untimed, and prints what the pool has counted: options.py looks whether the options have changed that.

#include <cstdlib>
#include <functional>
#include <iostream>
#include <thread>

#include "../../bench/harness.hpp"
#include "../../bench/runtimes/nopal.hpp"
#include "../fib.hpp"

namespace {

// The figures are read by the job itself: under a controlled schedule, at a moment that the seed decides.
nopal::task<nopal::stats> counted(nopal::pool const& pool) {
  long result = 0;
  co_await nopal::call(&result, test::fib_task, 12);
  co_return result == 144 ? pool.stats() : nopal::stats{};
}

}  // namespace

int main(int argc, char** argv) {
  return bench::start(argc, argv, "options", true, [](bench::options const& opts) {
    bench::nopal_runtime on{opts};
    nopal::stats const within = on.pool.run(counted, std::cref(on.pool));
    // If threads run freely: a thread that sleeps has searched without success.
    bool const scheduled = within.lost_turns != 0 || std::getenv("NOPAL_SCHEDULE") != nullptr;
    while (!scheduled && on.pool.stats().sleeps == 0) std::this_thread::yield();
    nopal::stats const after = on.pool.stats();
    std::cout << "{\"attempts\": " << within.steal_attempts << ", \"lost_turns\": " << within.lost_turns << ", \"pauses\": " << after.pauses
              << ", \"pin\": "
              << (!opts.pin   ? "null"
                  : *opts.pin ? "true"
                              : "false")
              << "}\n";
    return true;
  });
}

// A join that finds no memory for another stack keeps its worker, but only while memory is lacking.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include "inject.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/task.hpp"

namespace {

using namespace test::faults;

template <class F>
void until(F f) {
  while (!f()) std::this_thread::yield();
}

nopal::task<void> comes_back(nopal::pool& pool, unsigned where) { co_await nopal::resume_on(pool.worker(where)); }

// The worker that waits at the join has no stack, and what it waits for can only run on its thread.
TEST(faults_of_a_join, end_when_there_is_memory_again) {
  nopal::pool pool{{.workers = 2, .stack_size = std::size_t{64} << 20}};  // so large that each stack takes a system call of its own
  std::atomic<bool> elsewhere{false}, go{false}, stolen{false};
  bool refused = false;
  pool.run([&] {
    nopal::scope outer;
    outer.fork([&] {
      until([&] { return elsewhere.load(); });
      nopal::parallel_invoke([] {}, [] {});  // answers requests, and finds a stack for a join
      nopal::scope inner;
      inner.fork([&] {  // takes that stack
        unsigned const here = nopal::this_worker::index();
        arm({.kinds = of(kind::map, kind::protect), .first = 1, .last = plan::never, .milliseconds = 200});
        nopal::parallel_invoke(
            [&] {
              go = true;
              until([&] { return stolen.load(); });
            },
            [&] {
              stolen = true;
              nopal::sync_wait(comes_back, std::ref(pool), here);
            });
        refused = failures() != 0;
        disarm();
      });
      inner.join();
    });
    elsewhere = true;  // on the other worker, which makes no request until it continues
    until([&] { return go.load(); });
    outer.join();
  });
  EXPECT_TRUE(refused);
}

}  // namespace

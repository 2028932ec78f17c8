// Pools used from inside their own tasks: run, submit and detach, nested at random, between forks and joins, from many threads.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "../mix.hpp"
#include "../scale.hpp"
#include "nopal/pool.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::task;

using test::mix;

struct site {
  nopal::pool* own;
  nopal::pool* other;
  std::atomic<long>* detached;
  bool everywhere;  // jobs that are waited for may themselves wait for jobs
};

task<long> nested(site const& where, std::uint64_t node, int depth);

/// The same number, without a wait for any job.
task<long> plain(site const& where, std::uint64_t node, int depth) {
  if (depth == 0) co_return 1;
  long a = 0, b = 0, c = 0;
  co_await fork(&a, plain, where, node, depth - 1);
  co_await fork(&b, plain, where, node, depth - 1);
  co_await call(&c, plain, where, node, depth - 1);
  co_await join;
  co_return 1 + a + b + c;
}

/// 1 + the number of nodes below: 1 + 3 + 9 + …
task<long> nested(site const& where, std::uint64_t node, int depth) {
  if (depth == 0) co_return 1;
  site const elsewhere{where.other, where.own, where.detached, where.everywhere};
  auto* const job = where.everywhere ? nested : plain;
  long results[3]{};
  std::vector<nopal::future<long>> futures;
  for (std::uint64_t k = 0; k < 3; ++k) {
    std::uint64_t const child = mix(node + k);
    switch (child % 12) {
      case 0: results[k] = where.own->run(job, where, child, depth - 1); break;
      case 1: futures.push_back(where.own->submit(job, where, child, depth - 1)); break;
      case 2: results[k] = where.own->submit(job, where, child, depth - 1).get(); break;
      case 3: results[k] = where.other->run(job, elsewhere, child, depth - 1); break;
      case 4:
        ++*where.detached;
        where.own->detach([d = where.detached] { --*d; });
        [[fallthrough]];
      case 5:
      case 6: co_await call(&results[k], nested, where, child, depth - 1); break;
      default: co_await fork(&results[k], nested, where, child, depth - 1); break;
    }
  }
  co_await join;
  long sum = 1 + results[0] + results[1] + results[2];
  for (auto& f : futures) sum += f.get();
  co_return sum;
}

void from_three_threads(unsigned workers, bool everywhere) {
  std::atomic<long> detached{0};
  std::atomic<long> wrong{0};
  {
    nopal::pool a{{.workers = workers}};
    nopal::pool b{{.workers = 1}};
    site const where{&a, &b, &detached, everywhere};
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (long k = 0; k < test::scaled(60, 10); ++k) {
          if (a.run(nested, where, mix(t * 1000 + static_cast<std::uint64_t>(k)), 5) != 364) ++wrong;
        }
      });
    }
    for (std::thread& t : threads) t.join();
  }
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(detached.load(), 0);
}

class nesting : public testing::TestWithParam<unsigned> {};

TEST_P(nesting, of_jobs_in_tasks_is_exact) { from_three_threads(GetParam(), false); }

/// Workers leave a native stack that waits: on top of it they could block what it waits for.
TEST_P(nesting, of_jobs_in_jobs_is_exact) { from_three_threads(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(workers, nesting, testing::Values(1, 2, 3, 8), [](auto const& chosen) { return std::to_string(chosen.param); });

}  // namespace

// resume_on: tasks that continue on another worker, and what they leave.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/fiber.hpp"
#include "nopal/pool.hpp"
#include "nopal/scratch.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::call;
using nopal::fork;
using nopal::join;
using nopal::resume_on;
using nopal::task;

task<long> fib(long n) {
  if (n < 2) co_return n;
  long a = 0, b = 0;
  co_await fork(&a, fib, n - 1);
  co_await call(&b, fib, n - 2);
  co_await join;
  co_return a + b;
}

/// How often it was on the requested worker.
task<unsigned> visits_every_worker(nopal::pool& pool, unsigned first) {
  unsigned right = 0;
  for (unsigned k = 0; k < pool.workers(); ++k) {
    nopal::worker_ref const there = pool.worker((first + k) % pool.workers());
    co_await resume_on(there);
    right += nopal::this_worker::index() == there.index();
  }
  co_return right;
}

TEST(resume_on, reaches_every_worker) {
  for (unsigned const workers : {1u, 2u, 5u}) {
    nopal::pool pool{{.workers = workers}};
    for (unsigned k = 0; k < 50; ++k) {
      ASSERT_EQ(pool.run(visits_every_worker, pool, k), workers);
      ASSERT_EQ(pool.submit(visits_every_worker, pool, k).get(), workers);
    }
  }
}

/// A tree. Its leaves move, while the ancestors are in the middle of their scopes.
task<unsigned> tree_of_travellers(nopal::pool& pool, int depth) {
  if (depth == 0) co_return co_await call(visits_every_worker, pool, 1u);
  unsigned a = 0, b = 0, c = 0;
  co_await fork(&a, tree_of_travellers, pool, depth - 1);
  co_await fork(&b, tree_of_travellers, pool, depth - 1);
  co_await call(&c, tree_of_travellers, pool, depth - 1);
  co_await join;
  co_return a + b + c;
}

TEST(resume_on, leaves_unjoined_ancestors_in_order) {
  for (unsigned const workers : {1u, 2u, 3u}) {
    nopal::pool pool{{.workers = workers}};
    for (int k = 0; k < test::scaled(40, 4); ++k) ASSERT_EQ(pool.run(tree_of_travellers, pool, 4), 81 * workers);
  }
}

TEST(resume_on, serves_many_roots_at_once) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < test::scaled(60, 6); ++round) {
    std::vector<nopal::future<unsigned>> trees;
    std::vector<nopal::future<long>> fibs;
    for (int k = 0; k < 8; ++k) {
      trees.push_back(pool.submit(tree_of_travellers, pool, 2));
      fibs.push_back(pool.submit(fib, 10));
    }
    for (auto& t : trees) ASSERT_EQ(t.get(), 18u);
    for (auto& f : fibs) ASSERT_EQ(f.get(), 55);
  }
}

task<bool> goes_there_and_back(nopal::pool& here, nopal::pool& there) {
  co_await resume_on(there);
  bool const was_there = nopal::this_worker::index() < there.workers();
  long const value = co_await call(fib, 10);
  co_await resume_on(here);
  co_return was_there&& value == 55 && co_await call(fib, 11) == 89;
}
task<int> many_go_there_and_back(nopal::pool& here, nopal::pool& there) {
  bool all[16]{};
  for (bool& one : all) co_await fork(&one, goes_there_and_back, here, there);
  co_await join;
  int count = 0;
  for (bool const one : all) count += one;
  co_return count;
}

TEST(resume_on, reaches_another_pool_and_comes_back) {
  nopal::pool here{{.workers = 2}};
  nopal::pool there{{.workers = 1}};
  for (int k = 0; k < 50; ++k) ASSERT_EQ(here.run(many_go_there_and_back, here, there), 16);
}

task<> stays_away(nopal::pool& there, std::thread::id& thread) {
  co_await resume_on(there);
  thread = std::this_thread::get_id();
}

TEST(resume_on, a_task_may_end_in_another_pool) {
  nopal::pool here{{.workers = 1}};
  nopal::pool there{{.workers = 1}};
  std::thread::id thread;
  for (int k = 0; k < 50; ++k) {
    here.run(stays_away, there, thread);
    ASSERT_NE(thread, std::this_thread::get_id());
  }
}

/// Ends in `there`, on its only worker while that worker holds jobs, with a segment of its own.
task<unsigned> ends_with_scratch(nopal::pool& there) {
  auto const some = co_await nopal::stack_array<char>(1 << 16);
  co_await resume_on(there);
  co_return static_cast<unsigned>(some.size());
}

TEST(resume_on, takes_nothing_from_the_memory_limit_of_either_pool) {
  constexpr std::size_t limit = std::size_t{8} << 20;
  nopal::pool here{{.workers = 1, .memory_limit = limit}};
  nopal::pool there{{.workers = 1, .memory_limit = limit}};
  for (unsigned k = 0; k < test::scaled(1000, 4); ++k) ASSERT_EQ(here.submit(ends_with_scratch, there).get(), 1u << 16);
  EXPECT_EQ(here.run(ends_with_scratch, here), 1u << 16);
  EXPECT_EQ(there.run(ends_with_scratch, there), 1u << 16);
}

TEST(resume_on, leaves_the_numbers_of_both_pools_in_bounds) {
  constexpr std::size_t bound = std::size_t{8} << 20;
  nopal::pool here{{.workers = 1}};
  nopal::pool there{{.workers = 1}};
  for (unsigned k = 0; k < 400; ++k) ASSERT_EQ(here.submit(ends_with_scratch, there).get(), 1u << 16);
  EXPECT_EQ(there.run(ends_with_scratch, there), 1u << 16);
  for (nopal::pool const* const p : {&here, &there}) {
    nopal::stats const s = p->stats();
    EXPECT_LE(s.segment_bytes, bound);
    EXPECT_LE(s.segment_bytes_peak, bound);
    EXPECT_LE(s.segment_bytes + s.segment_bytes_free, s.segment_bytes_peak);
  }
}

/// Waits when it is destroyed, unless it was moved.
struct dies_slowly {
  std::atomic<int>* dead;
  explicit dies_slowly(std::atomic<int>& d) : dead{&d} {}
  dies_slowly(dies_slowly&& o) noexcept : dead{std::exchange(o.dead, nullptr)} {}
  dies_slowly& operator=(dies_slowly&&) = delete;
  ~dies_slowly() {
    if (dead == nullptr) return;
    nopal::sleep_for(std::chrono::milliseconds{5});
    ++*dead;
  }
};
task<> says_that_it_is_there(dies_slowly, nopal::pool& there, std::binary_semaphore& is_there) {
  co_await resume_on(there);
  is_there.release();
}

TEST(resume_on, the_other_pool_waits_for_the_end_of_what_the_job_was_made_of) {
  nopal::pool here{{.workers = 1}};
  for (int k = 0; k < test::scaled(100, 4); ++k) {
    std::atomic<int> dead{0};
    std::binary_semaphore is_there{0};
    {
      nopal::pool there{{.workers = 2}};
      here.detach(says_that_it_is_there, dies_slowly{dead}, std::ref(there), std::ref(is_there));
      is_there.acquire();
    }
    ASSERT_EQ(dead, 1);
  }
}

TEST(resume_on, does_not_mistake_waiting_jobs_for_a_parent) {
  nopal::pool here{{.workers = 1}};
  nopal::pool there{{.workers = 1}};
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> go{false};
    std::atomic<int> ran{0};
    auto const waits = [&] {
      while (!go) std::this_thread::yield();
      ++ran;
    };
    there.detach(waits);
    for (int k = 0; k < 5; ++k) there.detach([&ran] { ++ran; });
    auto moved = here.submit(many_go_there_and_back, here, there);
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    go = true;
    ASSERT_EQ(moved.get(), 16);
    there.submit([] {}).wait();
    while (ran < 6) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    ASSERT_EQ(ran.load(), 6);
  }
}

task<> travels_and_throws(nopal::pool& pool, unsigned i) {
  co_await resume_on(pool.worker(i));
  throw std::runtime_error{std::to_string(i)};
}
task<std::string> catches_travellers(nopal::pool& pool) {
  for (unsigned i = 0; i < pool.workers(); ++i) co_await fork(travels_and_throws, pool, i);
  try {
    co_await join;
  } catch (std::runtime_error const& e) {
    co_return e.what();
  }
  co_return "nothing";
}

TEST(resume_on, exceptions_find_the_parent) {
  nopal::pool pool{{.workers = 3}};
  for (int k = 0; k < 200; ++k) ASSERT_EQ(pool.run(catches_travellers, pool), "0");
}

task<long> travels_with_scratch(nopal::pool& pool) {
  auto const tmp = co_await nopal::stack_array<long>(5000);
  for (std::size_t i = 0; i < tmp.size(); ++i) tmp[i] = static_cast<long>(i);
  for (unsigned i = 0; i < pool.workers(); ++i) co_await resume_on(pool.worker(i));
  long a = 0;
  co_await fork(&a, fib, 10);
  co_await join;
  for (long const x : tmp) a += x;
  co_return a;
}

TEST(resume_on, takes_scratch_memory_along) {
  nopal::pool pool{{.workers = 3}};
  for (int k = 0; k < 100; ++k) ASSERT_EQ(pool.run(travels_with_scratch, pool), 55 + 5000L * 4999 / 2);
}

TEST(resume_on, refuses_workers_that_are_not_there) {
  nopal::pool pool{{.workers = 3}};
  EXPECT_EQ(pool.worker(2).index(), 2u);
  try {
    (void)pool.worker(3);
    FAIL() << "no exception";
  } catch (std::out_of_range const& e) {
    EXPECT_NE(std::string{e.what()}.find("worker(3)"), std::string::npos) << e.what();
    EXPECT_NE(std::string{e.what()}.find("0 to 2"), std::string::npos) << e.what();
  }
}

}  // namespace

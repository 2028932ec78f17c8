// The contract of a btITaskScheduler, without worlds.

#include "nopal_bullet.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <nopal/nopal.hpp>

#include "../harness.hpp"
#include "its_own_threads.hpp"

namespace {

template <class F>
struct for_body final : btIParallelForBody {
  F const& f;
  explicit for_body(F const& g) : f{g} {}
  void forLoop(int first, int last) const override { f(first, last); }
};
template <class F>
void loop(int begin, int end, int grain_size, F const& f) {
  btParallelFor(begin, end, grain_size, for_body<F>{f});
}

class bullet_scheduler : public testing::Test {
 protected:
  static void SetUpTestSuite() { btSetTaskScheduler(btGetSequentialTaskScheduler()); }
  void TearDown() override { btSetTaskScheduler(btGetSequentialTaskScheduler()); }
};

/// What an error says, "" if there is none.
template <class F>
std::string error_of(F const& f) {
  try {
    f();
  } catch (std::exception const& e) {
    return e.what();
  }
  return {};
}

/// Loops whose bodies look at themselves.
struct calls {
  std::array<std::atomic<int>, 1000> of_index{};
  std::array<std::atomic<int>, BT_MAX_THREAD_COUNT> of_thread{};
  std::atomic<int> wrong{0};

  void run() {
    loop(3, 1000, 20, [&](int first, int last) {
      unsigned const thread = btGetCurrentThreadIndex();
      if (static_cast<int>(thread) >= btGetTaskScheduler()->getNumThreads() || of_thread[thread].exchange(1) != 0) ++wrong;
      if ((first - 3) % 20 != 0 || last - first > 20) ++wrong;
      for (int k = first; k < last; ++k) ++of_index[static_cast<std::size_t>(k)];
      if (first % 7 == 0) std::this_thread::yield();
      of_thread[thread] = 0;
    });
  }
};

// So that no two threads at once write to the same of Bullet's arrays, nor beyond their ends.
TEST_F(bullet_scheduler, each_index_is_called_once_and_no_thread_number_twice_at_once) {
  nopal::pool pool{{.workers = 3}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  for (int round = 0; round < 10; ++round) {
    calls c;
    test::at_once(pool, [&](int) { c.run(); });
    EXPECT_EQ(c.wrong, 0);
    for (std::size_t k = 0; k < c.of_index.size(); ++k) EXPECT_EQ(c.of_index[k], k >= 3 ? test::places : 0) << k;
  }
}

// A loop of one block, or one that is serial, has a number, too.
TEST_F(bullet_scheduler, serial_loops_have_numbers) {
  nopal::pool pool{{.workers = 2}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  std::atomic<int> wrong{0};
  auto const body = [&](int, int) { wrong += static_cast<int>(btGetCurrentThreadIndex()) >= btGetTaskScheduler()->getNumThreads(); };
  for (int const threads : {2, 1}) {
    btGetTaskScheduler()->setNumThreads(threads);
    for (int k = 0; k < 5; ++k) std::thread{[&] { loop(0, 5, 100, body); }}.join();
    for (int k = 0; k < 5; ++k) std::thread{[&] { loop(0, 500, 10, body); }}.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(bullet_scheduler, one_thread_is_serial) {
  nopal::pool pool{{.workers = 2, .schedule = nopal::schedule::steal_always}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  std::vector<int> seen;
  ours.setNumThreads(1);
  loop(0, 100, 10, [&](int first, int last) { seen.insert(seen.end(), {first, last}); });
  EXPECT_EQ(seen, (std::vector<int>{0, 100}));
  EXPECT_EQ(ours.getNumThreads(), 3);  // which Bullet's arrays are made for
  ours.setNumThreads(ours.getMaxNumThreads());
  std::atomic<int> blocks{0};
  loop(0, 100, 10, [&](int, int) { ++blocks; });
  EXPECT_EQ(blocks, 10);
}

// As with Bullet's own threads. A body holds a solver's spin lock while it calls a solver that loops.
TEST_F(bullet_scheduler, loops_in_bodies_are_serial_and_run_once) {
  nopal::pool pool{{.workers = 3, .schedule = nopal::schedule::steal_always}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  std::vector<std::atomic<int>> hits(400);
  std::atomic<int> moved{0};
  loop(0, 20, 1, [&](int row, int) {
    unsigned const thread = btGetCurrentThreadIndex();
    for (int half = 0; half < 2; ++half) {
      loop(half * 10, half * 10 + 10, 2, [&](int first, int last) {
        moved += btGetCurrentThreadIndex() != thread;
        for (int c = first; c < last; ++c) ++hits[static_cast<std::size_t>(row * 20 + c)];
      });
    }
  });
  for (auto const& h : hits) EXPECT_EQ(h, 1);
  EXPECT_EQ(moved, 0);
}

// A callback of the program may wait. Its worker runs other bodies meanwhile, whose loops are serial too; later loops fork again.
TEST_F(bullet_scheduler, bodies_may_wait) {
  nopal::pool pool{{.workers = 3, .schedule = nopal::schedule::steal_at_random}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::atomic<int>> hits(100);
    loop(0, 100, 1, [&](int k, int) {
      nopal::parallel_for(0, 4, [&](int) { std::this_thread::yield(); }, nopal::grain{1});
      if (k % 10 == 0) nopal::yield();
      loop(0, 8, 1, [&](int first, int last) { hits[static_cast<std::size_t>(k)] += last - first; });
    });
    for (auto const& h : hits) EXPECT_EQ(h, 8);
  }
  for (int w = 0; w < 3; ++w) {
    std::atomic<int> blocks{0};
    pool.submit(
            [](nopal::worker_ref where, std::atomic<int>& n) -> nopal::task<void> {
              co_await nopal::resume_on(where);
              loop(0, 100, 10, [&](int, int) { ++n; });
            },
            pool.worker(static_cast<unsigned>(w)), blocks)
        .get();
    EXPECT_EQ(blocks, 10) << w;
  }
}

TEST_F(bullet_scheduler, sums_have_the_same_bits) {
  struct body final : btIParallelSumBody {
    btScalar sumLoop(int first, int last) const override {
      btScalar sum{0};
      for (int k = first; k < last; ++k) sum += btScalar(1) / btScalar(k + 1);
      return sum;
    }
  } const harmonic;
  btScalar expected{0};
  for (int first = 0; first < 100000; first += 33) expected += harmonic.sumLoop(first, std::min(first + 33, 100000));
  test::on_pools([&](nopal::pool& pool) {
    nopal::bullet_scheduler ours{pool};
    btSetTaskScheduler(&ours);
    auto const sum = [&] { return btParallelSum(0, 100000, 33, harmonic); };
    EXPECT_EQ(sum(), expected);
    EXPECT_EQ(pool.run(sum), expected);
    std::vector<btScalar> in_bodies(20);
    loop(0, 20, 1, [&](int k, int) { in_bodies[static_cast<std::size_t>(k)] = sum(); });
    EXPECT_EQ(in_bodies, std::vector<btScalar>(20, expected));
    ours.setNumThreads(1);
    EXPECT_EQ(sum(), expected);
    EXPECT_EQ(btParallelSum(5, 5, 10, harmonic), 0);
    EXPECT_EQ(btParallelSum(0, 30, 33, harmonic), harmonic.sumLoop(0, 30));
  });
}

TEST_F(bullet_scheduler, exceptions_come_out) {
  nopal::pool pool{{.workers = 2}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  auto const fails = [] {
    loop(0, 100, 10, [](int first, int) {
      if (first >= 50) throw std::runtime_error{"in block " + std::to_string(first)};
    });
  };
  EXPECT_EQ(error_of(fails), "in block 50");
  EXPECT_EQ(error_of([&] { pool.run(fails); }), "in block 50");
  std::thread{[&] { EXPECT_EQ(error_of(fails), "in block 50"); }}.join();
  std::atomic<int> blocks{0};
  loop(0, 100, 10, [&](int, int) { ++blocks; });
  EXPECT_EQ(blocks, 10);
}

// A world must not be left in the middle of a step.
TEST_F(bullet_scheduler, runs_to_the_end_where_it_is_asked_to_stop) {
  nopal::pool pool{{.workers = 2}};
  nopal::bullet_scheduler ours{pool};
  btSetTaskScheduler(&ours);
  std::stop_source source;
  source.request_stop();
  std::atomic<int> blocks{0};
  auto const run = [&] { nopal::with_stop(source.get_token(), [&] { loop(0, 100, 1, [&](int, int) { ++blocks; }); }); };
  run();
  pool.run(run);
  std::thread{run}.join();
  EXPECT_EQ(blocks, 300);
}

TEST_F(bullet_scheduler, schedulers_follow_each_other) {
  nopal::pool pool{{.workers = 2}};
  nopal::bullet_scheduler first{pool}, second{pool};
  std::unique_ptr<btITaskScheduler> const its{test::runs_its_own_threads ? btCreateDefaultTaskScheduler() : nullptr};
  btITaskScheduler* const own = its != nullptr ? its.get() : &first;
  auto const run = [](btITaskScheduler& s) {
    btSetTaskScheduler(&s);
    calls c;
    c.run();
    EXPECT_EQ(c.wrong, 0) << s.getName();
  };
  run(first);
  run(*own);
  run(second);
  run(first);
  for (int round = 0; round < 30; ++round) {  // 60 threads more, beside those above
    nopal::pool another{{.workers = 2}};
    nopal::bullet_scheduler brief{another};
    run(brief);
    EXPECT_EQ(brief.getNumThreads(), 3);
  }
  {
    nopal::bullet_scheduler brief{pool};
    run(brief);
  }
  EXPECT_EQ(btGetTaskScheduler(), btGetSequentialTaskScheduler());  // what a scheduler leaves behind
  run(*own);
  btSetTaskScheduler(btGetSequentialTaskScheduler());
}

TEST_F(bullet_scheduler, after_shutdown_it_is_set_again) {
  nopal::bullet_scheduler ours;
  btSetTaskScheduler(&ours);
  auto const run = [] { loop(0, 1000, 1, [](int, int) { std::this_thread::yield(); }); };
  run();
  ASSERT_EQ(nopal::shutdown(std::chrono::seconds{10}), "");
  std::thread{[&] {
    EXPECT_EQ(error_of(run),
              "nopal::bullet_scheduler: Bullet's number of a worker's thread is not known: call btSetTaskScheduler with this "
              "scheduler first, and "
              "again after nopal::shutdown");
  }}.join();
  btSetTaskScheduler(&ours);
  run();
}

TEST_F(bullet_scheduler, refuses_what_it_cannot_do) {
  {
    nopal::pool largest{{.workers = 63}}, too_large{{.workers = 64}};
    EXPECT_EQ(error_of([&] { nopal::bullet_scheduler{largest}.parallelFor(0, 1, 0, for_body{[](int, int) {}}); }),
              "nopal::bullet_scheduler: a loop of Bullet with a grain size of 0: give it at least 1");
    EXPECT_EQ(error_of([&] { nopal::bullet_scheduler{too_large}; }),
              "nopal::bullet_scheduler: a pool of 64 workers, and Bullet numbers at most 64 threads, the program's first among "
              "them: give it a "
              "pool of at most 63");
    nopal::bullet_scheduler ours{largest};
    btSetTaskScheduler(&ours);
    calls c;
    c.run();
    EXPECT_EQ(c.wrong, 0);
  }
  nopal::pool one{{.workers = 1}}, three{{.workers = 3}};
  nopal::bullet_scheduler before{one}, ours{three};
  btSetTaskScheduler(&before);
  three.run(
      [](nopal::worker_ref last) -> nopal::task<void> {
        co_await nopal::resume_on(last);
        btGetCurrentThreadIndex();
      },
      three.worker(2));
  EXPECT_EQ(error_of([&] { btSetTaskScheduler(&ours); }),
            "nopal::bullet_scheduler: workers 1 and 2 both have Bullet's thread number 2: they have used Bullet before "
            "btSetTaskScheduler, which "
            "must be called first, or with a new pool");
  EXPECT_EQ(btGetTaskScheduler(), btGetSequentialTaskScheduler());
}

}  // namespace

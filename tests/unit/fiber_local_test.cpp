// fiber_local: who has a value of its own, who sees that of another, when values are made, and when they end.

#include "nopal/fiber_local.hpp"

#include <gtest/gtest.h>

#include <any>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../on_pools.hpp"
#include "../scale.hpp"
#include "nopal/affinity.hpp"
#include "nopal/after.hpp"
#include "nopal/algorithm/parallel_for.hpp"
#include "nopal/algorithm/sort.hpp"
#include "nopal/block_on.hpp"
#include "nopal/channel.hpp"
#include "nopal/counter.hpp"
#include "nopal/fiber.hpp"
#include "nopal/graph.hpp"
#include "nopal/native.hpp"
#include "nopal/pipeline.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/semaphore.hpp"
#include "nopal/stay.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

/// Counts its objects.
struct counted {
  static inline std::atomic<int> alive = 0;
  static inline std::atomic<int> made = 0;
  static void begin() { alive = made = 0; }

  int value = 0;
  counted() { ++alive, ++made; }
  counted(counted const&) = delete;
  counted& operator=(counted const&) = delete;
  ~counted() { --alive; }
};

/// Calls leaf() 2^depth times, in both halves of forks.
template <class F>
void in_forks(int depth, F const& leaf) {
  if (depth == 0) return leaf();
  nopal::parallel_invoke([&] { in_forks(depth - 1, leaf); }, [&] { in_forks(depth - 1, leaf); });
}

/// How many of the leaves that are forked do not see `mine` as the value of `slot`.
template <class T>
int strangers(nopal::fiber_local<T>& slot, T const* mine, int depth) {
  std::atomic<int> n = 0;
  in_forks(depth, [&] { n += &slot.local() != mine; });
  return n;
}

TEST(fiber_local, each_fiber_has_a_value_of_its_own_that_ends_with_it) {
  test::on_some_pools([](nopal::pool& pool) {
    counted::begin();
    nopal::fiber_local<counted> slot;
    constexpr int fibers = 500;
    std::atomic<int> wrong = 0;
    nopal::counter left;
    for (int i = 0; i < fibers; ++i) {
      pool.spawn(left, [&, i] {
        wrong += slot.has_value();
        counted& mine = slot.local();
        wrong += mine.value != 0;
        mine.value = i;
        for (int k = 0; k < 3; ++k) {
          nopal::yield();
          wrong += &*slot != &mine || slot->value != i || !slot.has_value();
        }
      });
    }
    nopal::wait_for(left);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(counted::made, fibers);
    EXPECT_EQ(counted::alive, 0) << "the values end before the counter counts down";
    EXPECT_FALSE(slot.has_value());
  });
}

TEST(fiber_local, a_fiber_in_a_fiber_shares_nothing) {
  nopal::pool pool{{.workers = 2}};
  nopal::fiber_local<int> slot;
  nopal::counter left;
  pool.spawn(left, [&] {
    *slot = 1;
    nopal::counter inner;
    nopal::spawn(inner, [&] {
      EXPECT_EQ(*slot, 0);
      *slot = 2;
    });
    nopal::wait_for(inner);
    EXPECT_EQ(*slot, 1);
  });
  nopal::wait_for(left);
}

TEST(fiber_local, a_thread_off_all_pools_has_one_too) {
  counted::begin();
  nopal::fiber_local<counted> slot;
  slot->value = 1;
  std::thread{[&] {
    EXPECT_FALSE(slot.has_value());
    slot->value = 2;
    EXPECT_EQ(counted::alive, 2);
  }}.join();
  EXPECT_EQ(counted::alive, 1) << "it has ended with its thread";
  EXPECT_EQ(slot->value, 1);
}

TEST(fiber_local, a_threads_value_ends_with_the_thread_where_a_worker_has_made_it) {
  counted::begin();
  nopal::fiber_local<counted> slot;
  nopal::pool pool{{.workers = 2}};
  std::thread{[&] {
    pool.run([&] { slot->value = 3; });
    EXPECT_TRUE(slot.has_value());
    EXPECT_EQ(slot->value, 3) << "what run calls works for its caller";
  }}.join();
  EXPECT_EQ(counted::made, 1);
  EXPECT_EQ(counted::alive, 0);
}

TEST(fiber_local, ends_with_its_destroyers_value_and_a_new_one_starts_anew) {
  counted::begin();
  for (int k = 0; k < 100; ++k) {
    nopal::fiber_local<counted> a;
    nopal::fiber_local<counted> b;
    EXPECT_EQ(a->value + b->value, 0);
    a->value = b->value = 1;
  }
  EXPECT_EQ(counted::made, 200);
  EXPECT_EQ(counted::alive, 0);
}

TEST(fiber_local, forked_children_see_their_forkers) {
  test::on_some_pools([](nopal::pool& pool) {
    nopal::fiber_local<int> slot;
    nopal::counter left;
    std::atomic<int> wrong = 0;
    for (int i = 0; i < 8; ++i) {
      pool.spawn(left, [&] {
        wrong += strangers(slot, &slot.local(), 8);
        nopal::scope s;
        int* const mine = &slot.local();
        for (int k = 0; k < 50; ++k) {
          s.fork([&, mine] {
            wrong += &slot.local() != mine;
            nopal::yield();
            wrong += &slot.local() != mine;
            wrong += strangers(slot, mine, 2);
          });
        }
        s.join();
        wrong += &slot.local() != mine;
      });
    }
    nopal::wait_for(left);
    EXPECT_EQ(wrong, 0);
  });
}

TEST(fiber_local, what_makes_the_first_use_in_a_child_stays_for_the_parent) {
  test::on_some_pools([](nopal::pool& pool) {
    counted::begin();
    nopal::fiber_local<counted> slot;
    pool.submit([&] {
          std::atomic<counted*> seen = nullptr;
          std::atomic<int> wrong = 0;
          in_forks(8, [&] {
            counted* none = nullptr;
            counted* const mine = &slot.local();
            wrong += !seen.compare_exchange_strong(none, mine) && none != mine;
          });
          EXPECT_EQ(wrong, 0);
          EXPECT_EQ(&slot.local(), seen.load());
        })
        .get();
    EXPECT_EQ(counted::made, 1);
    EXPECT_EQ(counted::alive, 0) << "those of a job end before its future is ready";
  });
}

TEST(fiber_local, loops_and_algorithms_see_their_callers) {
  test::on_some_pools([](nopal::pool& pool) {
    nopal::fiber_local<int> slot;
    nopal::affinity keep;
    nopal::counter left;
    std::atomic<int> wrong = 0;
    pool.spawn(left, [&] {
      int* const mine = &slot.local();
      auto const look = [&] { wrong += &slot.local() != mine; };
      nopal::parallel_for(0, 2000, [&](int) { look(); });
      for (int k = 0; k < 3; ++k) nopal::parallel_for(0, 2000, [&](int) { look(); }, keep);
      std::vector<int> v(3000);
      for (int i = 0; i < 3000; ++i) v[static_cast<std::size_t>(i)] = 3000 - i;
      nopal::sort(v, [&](int a, int b) {
        look();
        return a < b;
      });
    });
    nopal::wait_for(left);
    EXPECT_EQ(wrong, 0);
  });
}

TEST(fiber_local, graphs_and_pipelines_see_their_callers) {
  test::on_some_pools([](nopal::pool& pool) {
    nopal::fiber_local<int> slot;
    std::atomic<int*> mine = nullptr;
    std::atomic<int> wrong = 0;
    std::atomic<int> looked = 0;
    auto const look = [&] {
      wrong += &slot.local() != mine.load();
      ++looked;
      nopal::yield();
      wrong += &slot.local() != mine.load();
    };
    nopal::graph g;
    auto const first = g.node(look);
    for (int k = 0; k < 20; ++k) g.edge(first, g.node(look));
    nopal::counter left;
    pool.spawn(left, [&] {
      mine = &slot.local();
      g.run();
      int n = 0;
      nopal::pipeline(
          nopal::tokens{4}, [&]() -> std::optional<int> { return n < 50 ? std::optional{n++} : std::nullopt; },
          nopal::stage::parallel{[&](int k) {
            look();
            return k;
          }},
          nopal::stage::serial_in_order{[&](int) { look(); }});
      wrong += &slot.local() != mine.load();
    });
    nopal::wait_for(left);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(looked, 21 + 100);
  });
}

nopal::task<int> strangers_of_task(nopal::fiber_local<int>& slot, int const* mine, int depth, nopal::pool& pool, nopal::semaphore& s) {
  int here = &slot.local() != mine;
  if (depth == 0) {
    co_await s.acquire();
    here += &slot.local() != mine;
    co_await nopal::resume_on(pool.worker(0));
    here += &slot.local() != mine;
    s.release();
    co_return here;
  }
  int a = 0;
  int b = 0;
  co_await nopal::fork(&a, strangers_of_task, slot, mine, depth - 1, pool, s);
  here += &slot.local() != mine;
  co_await nopal::call(&b, strangers_of_task, slot, mine, depth - 1, pool, s);
  here += &slot.local() != mine;
  co_await nopal::join;
  here += &slot.local() != mine;
  here += strangers(slot, mine, 2);
  co_return here + a + b;
}
nopal::task<int> strangers_of_job(nopal::fiber_local<counted>& slot, nopal::fiber_local<int>& ints, nopal::pool& pool,
                                  nopal::semaphore& s) {
  slot->value = 1;
  co_return co_await nopal::call(strangers_of_task, ints, &ints.local(), 5, pool, s);
}

TEST(fiber_local, all_tasks_of_a_job_see_the_same) {
  test::on_some_pools([](nopal::pool& pool) {
    counted::begin();
    nopal::fiber_local<counted> slot;
    nopal::fiber_local<int> ints;
    nopal::semaphore s{2};
    std::vector<nopal::future<int>> jobs;
    for (int k = 0; k < 3; ++k) jobs.push_back(pool.submit(strangers_of_job, std::ref(slot), std::ref(ints), std::ref(pool), std::ref(s)));
    for (auto& f : jobs) EXPECT_EQ(f.get(), 0);
    EXPECT_EQ(counted::made, 3);
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(pool.run(strangers_of_task, ints, &ints.local(), 5, pool, s), 0) << "run works for its caller";
  });
}

TEST(fiber_local, who_waits_in_the_call_lends_its_own) {
  test::on_some_pools([](nopal::pool& pool) {
    nopal::fiber_local<int> slot;
    nopal::pool other{{.workers = 1}};
    nopal::counter left;
    pool.spawn(left, [&] {
      int* const mine = &slot.local();
      EXPECT_EQ(pool.run([&] { return &slot.local(); }), mine);
      EXPECT_EQ(other.run([&] { return &slot.local(); }), mine);
      EXPECT_EQ(nopal::block_on([&] { return &slot.local(); }), mine);
      EXPECT_EQ(&slot.local(), mine);
      EXPECT_NE(pool.submit([&] { return &slot.local(); }).get(), mine);
      EXPECT_EQ(&slot.local(), mine);
    });
    nopal::wait_for(left);
  });
}

TEST(fiber_local, a_scope_off_all_pools_sees_its_threads) {
  counted::begin();
  nopal::fiber_local<counted> slot;
  std::atomic<int> wrong = 0;
  std::thread{[&] {
    nopal::scope s;
    std::atomic<counted*> seen = nullptr;
    for (int k = 0; k < 20; ++k) {
      s.fork([&] {
        counted* none = nullptr;
        counted* const mine = &slot.local();
        wrong += !seen.compare_exchange_strong(none, mine) && none != mine;
      });
    }
    s.join();
    wrong += &slot.local() != seen.load();
  }}.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(counted::made, 1);
  EXPECT_EQ(counted::alive, 0);
}

TEST(fiber_local, stays_where_the_stack_stays) {
  for (auto const resume : {nopal::resume::home, nopal::resume::anywhere}) {
    nopal::pool pool{{.workers = 2, .resume = resume}};
    nopal::fiber_local<int> slot;
    nopal::counter left;
    std::atomic<int> wrong = 0;
    for (int k = 0; k < 4; ++k) {
      pool.spawn(left, [&] {
        nopal::stay const here;
        int* const mine = &slot.local();
        wrong += strangers(slot, mine, 6);
        nopal::scope s;
        for (int i = 0; i < 10; ++i) s.fork([&] { wrong += &slot.local() != mine; });
        s.join();
        nopal::yield();
        wrong += &slot.local() != mine;
      });
    }
    nopal::wait_for(left);
    EXPECT_EQ(wrong, 0);
  }
}

TEST(fiber_local, is_made_once_though_many_children_ask_and_the_maker_waits) {
  test::on_some_pools([](nopal::pool& pool) {
    std::atomic<int> made = 0;
    nopal::fiber_local<int> slot{[&] {
      for (int k = 0; k < 5; ++k) nopal::yield();
      return ++made;
    }};
    nopal::counter left;
    pool.spawn(left, [&] {
      nopal::scope s;
      std::atomic<int> wrong = 0;
      for (int k = 0; k < 50; ++k) s.fork([&] { wrong += *slot != 1; });
      s.join();
      EXPECT_EQ(wrong, 0);
    });
    nopal::wait_for(left);
    EXPECT_EQ(made, 1);
  });
}

TEST(fiber_local, a_maker_that_throws_is_tried_again) {
  nopal::pool pool{{.workers = 2}};
  std::atomic<int> tries = 0;
  nopal::fiber_local<int> slot{[&] {
    if (++tries < 3) throw std::runtime_error{"not yet"};
    return 7;
  }};
  nopal::counter left;
  pool.spawn(left, [&] {
    EXPECT_THROW(*slot, std::runtime_error);
    EXPECT_FALSE(slot.has_value());
    EXPECT_THROW(nopal::parallel_invoke([&] { *slot; }, [] {}), std::runtime_error);
    EXPECT_EQ(*slot, 7);
  });
  nopal::wait_for(left);
  EXPECT_EQ(tries, 3);
  pool.spawn(left, [&] {
    tries = 0;
    *slot;
  });
  EXPECT_THROW(nopal::wait_for(left), std::runtime_error);
}

TEST(fiber_local, a_maker_that_asks_for_its_own_value_is_told) {
  nopal::fiber_local<int>* self = nullptr;
  nopal::fiber_local<int> slot{[&] { return **self + 1; }};
  self = &slot;
  nopal::pool pool{{.workers = 1}};
  auto const asks = [&] {
    try {
      *slot;
      ADD_FAILURE() << "it has made a value";
    } catch (std::system_error const& e) {
      EXPECT_EQ(e.code(), std::errc::resource_deadlock_would_occur);
      EXPECT_NE(std::string{e.what()}.find("nopal: making a fiber_local's value has asked for that value"), std::string::npos) << e.what();
    }
  };
  asks();
  pool.submit(asks).get();
}

/// Writes down when it ends.
struct noted {
  std::vector<int>* into;
  int number;
  noted(std::vector<int>* v, int n) : into{v}, number{n} {}
  noted(noted const&) = delete;
  noted& operator=(noted const&) = delete;
  void note() { into->push_back(-number); }
  ~noted() {
    nopal::yield();  // a destructor may wait
    into->push_back(number);
  }
};

TEST(fiber_local, values_end_in_reverse_order_after_the_closure) {
  test::on_some_pools([](nopal::pool& pool) {
    std::vector<int> ended;
    nopal::fiber_local<noted> a{[&] { return noted{&ended, 1}; }};
    nopal::fiber_local<noted> b{[&] { return noted{&ended, 2}; }};
    nopal::fiber_local<noted> c{[&] { return noted{&ended, 3}; }};
    nopal::counter left;
    {
      auto given = std::make_shared<noted>(&ended, 0);
      pool.spawn(left, [&, given = std::move(given)] { b.local(), c.local(), a.local(); });
    }
    nopal::wait_for(left);
    EXPECT_EQ(ended, (std::vector{0, 1, 3, 2}));
    ended.clear();
    pool.submit([&] { b.local(), c.local(), a.local(); }).get();
    EXPECT_EQ(ended, (std::vector{1, 3, 2}));
    ended.clear();
    pool.submit(&noted::note, std::make_shared<noted>(&ended, 9)).get();
    EXPECT_EQ(ended, (std::vector{-9, 9}));
    ended.clear();
    pool.submit([&, given = std::make_shared<noted>(&ended, 0)] { b.local(), c.local(), a.local(); }).get();
    EXPECT_EQ(ended, (std::vector{0, 1, 3, 2}));
    ended.clear();
    std::thread{[&] { b.local(), c.local(), a.local(); }}.join();
    EXPECT_EQ(ended, (std::vector{1, 3, 2}));
    ended.clear();
  });
}

TEST(fiber_local, a_destructor_may_use_and_make_values_and_fork) {
  static nopal::fiber_local<counted>* other;
  static std::atomic<int> found;
  struct asks {
    ~asks() {
      in_forks(4, [] { found += other->local().value + 1; });
    }
  };
  nopal::fiber_local<counted> slot;
  other = &slot;
  test::on_some_pools([&](nopal::pool& pool) {
    nopal::fiber_local<asks> last;
    for (bool const is_made : {true, false}) {
      counted::begin();
      found = 0;
      auto const use = [&] {
        if (is_made) slot->value = 1;
        last.local();
      };
      pool.submit(use).get();
      EXPECT_EQ(found, is_made ? 32 : 16);
      EXPECT_EQ(counted::made, 1);
      EXPECT_EQ(counted::alive, 0);
      found = 0;
      nopal::counter left;
      pool.spawn(left, use);
      nopal::wait_for(left);
      EXPECT_EQ(found, is_made ? 32 : 16);
      EXPECT_EQ(counted::alive, 0);
    }
  });
}

TEST(fiber_local, values_end_where_an_exception_or_a_request_to_stop_ends_the_fiber) {
  test::on_some_pools([](nopal::pool& pool) {
    counted::begin();
    nopal::fiber_local<counted> slot;
    nopal::counter left;
    pool.spawn(left, [&] {
      slot->value = 1;
      throw std::runtime_error{"ended"};
    });
    EXPECT_THROW(nopal::wait_for(left), std::runtime_error);
    EXPECT_EQ(counted::alive, 0);
    auto failed = pool.submit([&] {
      slot->value = 1;
      throw std::runtime_error{"ended"};
    });
    EXPECT_THROW(failed.get(), std::runtime_error);
    EXPECT_EQ(counted::alive, 0);

    std::stop_source stop;
    nopal::channel<int> never{1};
    auto stopped = pool.submit(stop.get_token(), [&] {
      slot->value = 1;
      nopal::parallel_invoke([&] { static_cast<void>(never.pop()); }, [&] { slot->value = 2; });
    });
    stop.request_stop();
    EXPECT_THROW(stopped.get(), nopal::stopped);
    EXPECT_EQ(counted::alive, 0);
  });
}

TEST(fiber_local, a_detached_job_has_its_own) {
  counted::begin();
  nopal::fiber_local<counted> slot;
  {
    nopal::pool pool{{.workers = 2}};
    for (int k = 0; k < 20; ++k) pool.detach([&] { slot->value = 1; });
  }
  EXPECT_EQ(counted::made, 20);
  EXPECT_EQ(counted::alive, 0);
}

/// Uses the fiber-local when it is destroyed, unless it was moved.
struct uses_at_end {
  nopal::fiber_local<counted>* slot;
  explicit uses_at_end(nopal::fiber_local<counted>& s) : slot{&s} {}
  uses_at_end(uses_at_end&& o) noexcept : slot{std::exchange(o.slot, nullptr)} {}
  uses_at_end& operator=(uses_at_end&&) = delete;
  void nothing() const {}
  ~uses_at_end() {
    if (slot == nullptr) return;
    nopal::yield();
    ++(*slot)->value;
    nopal::yield();
  }
};

TEST(fiber_local, is_a_jobs_own_while_what_the_job_is_made_of_dies) {
  counted::begin();
  nopal::fiber_local<counted> slot;
  int jobs = 0;
  nopal::semaphore dropped{0};
  auto const task = [](uses_at_end) -> nopal::task<void> { co_return; };
  {
    nopal::pool pool{{.workers = 2}};
    for (int k = 0; k < 20; ++k) {
      pool.submit([u = uses_at_end{slot}] {}).get();
      EXPECT_EQ(counted::alive, 0);
      pool.submit(&uses_at_end::nothing, std::make_unique<uses_at_end>(slot)).get();
      EXPECT_EQ(counted::alive, 0);
      pool.submit([u = uses_at_end{slot}]() -> nopal::task<void> { co_return; }).get();
      EXPECT_EQ(counted::alive, 0);
      EXPECT_THROW(pool.submit([u = uses_at_end{slot}] { throw std::runtime_error{"ended"}; }).get(), std::runtime_error);
      EXPECT_EQ(counted::alive, 0);
      auto failed = pool.submit([] { throw std::runtime_error{"ended"}; }).then([u = uses_at_end{slot}] {});  // is not called
      EXPECT_THROW(failed.get(), std::runtime_error);
      EXPECT_EQ(counted::alive, 0);
      jobs += 5;
    }
    for (int k = 0; k < 20; ++k) {
      pool.detach([u = uses_at_end{slot}] {});
      pool.detach(task, uses_at_end{slot});
      pool.detach([&] { return uses_at_end{slot}; });
      static_cast<void>(pool.submit([&] {
        dropped.acquire();
        return uses_at_end{slot};
      }));
      static_cast<void>(pool.submit([&, u = uses_at_end{slot}] { dropped.acquire(); }).then([u = uses_at_end{slot}] {}));
      static_cast<void>(pool.submit([&, u = uses_at_end{slot}] {
        dropped.acquire();
        return &u;
      }));
      dropped.release(3);
      jobs += 7;
    }
  }
  EXPECT_EQ(counted::made, jobs);
  EXPECT_EQ(counted::alive, 0);
}

nopal::task<int> depth_of(int left) {
  if (left == 0) co_return 0;
  int below = 0;
  co_await nopal::fork(&below, depth_of, left - 1);
  co_await nopal::join;
  co_return below + 1;
}

// The last that ends is a fiber, whose values and region have ended when it counts down.
TEST(fiber_local, of_what_begins_after_others_sees_these_die) {
  test::on_some_pools([](nopal::pool& pool) {
    counted::begin();
    nopal::fiber_local<counted> slot;
    int dead = 0;
    std::stop_source stopped;
    stopped.request_stop();
    auto const after_a_fiber = [&](auto begin) {
      nopal::semaphore gate{0};
      nopal::counter fiber;
      auto result = pool.submit([&] { return uses_at_end{slot}; });
      result.wait();
      nopal::with_stop(stopped.get_token(), [&] { pool.spawn(fiber, [&] { nopal::without_stop([&] { gate.acquire(); }); }); });
      auto begins = begin(nopal::after(result, fiber));
      {
        auto const dropped = std::move(result);
      }
      gate.release();
      begins();
      nopal::wait_for(fiber);
      ++dead;  // soon: the job that has made the result may have been the last to let it go
      for (int k = 0; (counted::made < dead || counted::alive > 0) && k < 10'000; ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
      ASSERT_EQ(counted::made, dead);
      ASSERT_EQ(counted::alive, 0);
    };
    constexpr int depth = 100'000;
    for (int k = 0; k < 20; ++k) {
      after_a_fiber([&](auto after) { return [f = pool.submit(std::move(after), [] {})]() mutable { f.get(); }; });
      after_a_fiber([&](auto after) {
        return [f = pool.submit(std::move(after), depth_of, k == 0 ? depth : 10)]() mutable { EXPECT_GE(f.get(), 10); };
      });
      nopal::counter left;
      after_a_fiber([&](auto after) {
        pool.spawn(std::move(after), left, [] {});
        return [&] { nopal::wait_for(left); };
      });
    }
  });
}

TEST(fiber_local, any_type_that_can_be_made) {
  struct alignas(256) wide {
    int n = 4;
  };
  struct no_default {
    explicit no_default(int k) : n{k} {}
    int n;
  };
  nopal::fiber_local<wide> w;
  nopal::fiber_local<std::unique_ptr<int>> p{[] { return std::make_unique<int>(5); }};
  nopal::fiber_local<std::atomic<int>> immovable;
  nopal::fiber_local<no_default> d{[] { return no_default{6}; }};
  nopal::fiber_local<std::string> s{"seven"};
  nopal::fiber_local<bool> b([] { return false; });  // a function without captures can be converted to a bool, too
  nopal::fiber_local<std::any> a{[] { return std::any{8}; }};
  nopal::fiber_local<std::function<int()>> f{[] { return 9; }};
  nopal::pool pool{{.workers = 2}};
  nopal::counter left;
  for (int k = 0; k < 20; ++k) {
    pool.spawn(left, [&] {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&*w) % 256, 0u);
      EXPECT_EQ(w->n + **p + ++*immovable + d->n, 16);
      EXPECT_EQ(*s, "seven");
      *s += "!";
      EXPECT_FALSE(*b);
      EXPECT_EQ(std::any_cast<int>(*a) + (*f)(), 17);
    });
  }
  nopal::wait_for(left);
}

TEST(fiber_local, many_of_them_in_one_fiber) {
  std::vector<std::unique_ptr<nopal::fiber_local<int>>> slots;
  for (int k = 0; k < 200; ++k) slots.push_back(std::make_unique<nopal::fiber_local<int>>(k));
  nopal::pool pool{{.workers = 2}};
  nopal::counter left;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    pool.spawn(left, [&] {
      nopal::parallel_for(0, 200, [&](int k) { wrong += slots[static_cast<std::size_t>(k)]->local()++ != k; });
      for (int k = 0; k < 200; ++k) wrong += slots[static_cast<std::size_t>(k)]->local() != k + 1;
    });
  }
  nopal::wait_for(left);
  EXPECT_EQ(wrong, 0);
}

TEST(fiber_local_death, misuse_ends_in_a_message) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 1}};
        nopal::counter left;
        nopal::channel<int> end{1};
        auto slot = std::make_unique<nopal::fiber_local<int>>();
        nopal::channel<int> begun{1};
        pool.spawn(left, [&] {
          ++**slot;
          begun.push(1);
          end.pop();
        });
        static_cast<void>(begun.pop());
        slot.reset();
      },
      "nopal: a fiber_local was destroyed while another fiber, job or thread has a value of it");
  EXPECT_DEATH(
      {
        struct throws {
          ~throws() noexcept(false) { throw std::runtime_error{"cannot end"}; }
        };
        nopal::pool pool{{.workers = 1}};
        nopal::fiber_local<throws> slot;
        pool.submit([&] { slot.local(); }).get();
      },
      "nopal: the destructor of a fiber_local's value has thrown: cannot end");
}

}  // namespace

// Pipelines: what goes through them, in what order, and what stops them.

#include "nopal/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../meeting.hpp"
#include "../scale.hpp"
#include "nopal/algorithm.hpp"
#include "nopal/fiber.hpp"
#include "nopal/floating_point.hpp"
#include "nopal/stay.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using nopal::pipeline;
using nopal::tokens;
namespace stage = nopal::stage;

/// The numbers from 0 to `end`.
auto numbers(int end) {
  return [next = 0, end]() mutable -> std::optional<int> { return next < end ? std::optional{next++} : std::nullopt; };
}

/// Calls f(pool) on pools of several sizes.
template <class F>
void on_pools(F f) {
  for (unsigned const workers : {1U, 2U, 5U}) {
    SCOPED_TRACE(std::to_string(workers) + " workers");
    nopal::pool pool{{.workers = workers}};
    f(pool);
  }
}
/// Calls f(tokens) inside of pools of several sizes.
template <class F>
void in_pools(F f) {
  on_pools([&](nopal::pool& pool) {
    for (int const n : {1, 2, 3, 16, 1000}) {
      SCOPED_TRACE(std::to_string(n) + " tokens");
      pool.run([&] { f(tokens{n}); });
    }
  });
}

/// Sometimes lets others run, sometimes computes, sometimes neither: so that items meet in many ways.
void dawdle(std::uint64_t seed) {
  std::uint64_t const x = (seed + 1) * 0x9e3779b97f4a7c15U;
  switch (x >> 61) {
    case 0: nopal::yield(); break;
    case 1: std::this_thread::yield(); break;
    case 2:
      for (auto k = x >> 54; k-- > 0;) std::atomic_signal_fence(std::memory_order_seq_cst);
      break;
    default: break;
  }
}

/// True where it is entered by one thread at a time.
class alone {
 public:
  template <class F>
  void pass(F f) {
    if (inside_.exchange(true)) met_ = true;
    f();
    inside_ = false;
  }
  bool was_alone() const { return !met_; }

 private:
  std::atomic<bool> inside_{false};
  std::atomic<bool> met_{false};
};

TEST(pipeline_test, each_item_goes_through_all_stages) {
  in_pools([](tokens n) {
    for (int const end : {0, 1, 2, 5, static_cast<int>(test::scaled(1000))}) {
      std::vector<int> out;
      pipeline(n, numbers(end), stage::parallel{[](int k) { return 2L * k; }},
               stage::serial_in_order{[](long k) { return std::to_string(k); }},
               stage::serial_in_order{[&](std::string const& s) { out.push_back(std::stoi(s)); }});
      ASSERT_EQ(out.size(), static_cast<std::size_t>(end));
      for (int k = 0; k < end; ++k) ASSERT_EQ(out[static_cast<std::size_t>(k)], 2 * k);
    }
  });
}

TEST(pipeline_test, one_worker_takes_one_item_after_the_other) {
  nopal::pool pool{{.workers = 1}};
  std::string order;
  pool.run([&] {
    pipeline(
        tokens{4},
        [&, k = 0]() mutable -> std::optional<int> {
          order += '.';
          return k < 3 ? std::optional{k++} : std::nullopt;
        },
        stage::serial{[&](int k) {
          order += static_cast<char>('a' + k);
          return k;
        }},
        stage::parallel{[&](int k) {
          order += static_cast<char>('a' + k);
          return k;
        }},
        stage::serial_in_order{[&](int k) { order += static_cast<char>('A' + k); }});
  });
  EXPECT_EQ(order, ".aaA.bbB.ccC.");
}

TEST(pipeline_test, stages_keep_order_and_are_alone_as_they_say) {
  in_pools([](tokens n) {
    int const end = static_cast<int>(test::scaled(2000));
    alone source, in_order[2], serial[2];
    int next[2] = {0, 0};
    bool ordered[2] = {true, true};
    std::vector<int> seen[2];
    auto const passes_in_order = [&](int which) {
      return [&, which](int k) {
        in_order[which].pass([&] {
          ordered[which] = ordered[which] && k == next[which]++;
          dawdle(static_cast<std::uint64_t>(7 * k + which));
        });
        return k;
      };
    };
    auto const passes = [&](int which) {
      return [&, which](int k) {
        serial[which].pass([&] {
          seen[which].push_back(k);
          dawdle(static_cast<std::uint64_t>(11 * k + which));
        });
        return k;
      };
    };
    pipeline(
        n,
        [&, k = 0]() mutable -> std::optional<int> {
          std::optional<int> item;
          source.pass([&] {
            if (k < end) item = k++;
          });
          return item;
        },
        stage::serial{passes(0)}, stage::serial_in_order{passes_in_order(0)}, stage::parallel{[](int k) {
          dawdle(static_cast<std::uint64_t>(3 * k));
          return k;
        }},
        stage::serial_in_order{passes_in_order(1)}, stage::serial{passes(1)});
    EXPECT_TRUE(source.was_alone());
    for (int which : {0, 1}) {
      EXPECT_TRUE(ordered[which]);
      EXPECT_EQ(next[which], end);
      EXPECT_TRUE(in_order[which].was_alone());
      EXPECT_TRUE(serial[which].was_alone());
      std::ranges::sort(seen[which]);
      ASSERT_EQ(seen[which].size(), static_cast<std::size_t>(end));
      for (int k = 0; k < end; ++k) ASSERT_EQ(seen[which][static_cast<std::size_t>(k)], k);
    }
  });
}

TEST(pipeline_test, as_many_items_as_tokens_are_inside) {
  on_pools([](nopal::pool& pool) {
    for (int const n : {1, 2, 7}) {
      std::atomic<int> inside{0};
      std::atomic<int> most{0};
      pool.run([&] {
        pipeline(
            tokens{n},
            [&, k = 0]() mutable -> std::optional<int> {
              if (k == 200) return std::nullopt;
              int const now = ++inside;
              if (now > most) most = now;  // the source is alone
              return k++;
            },
            stage::parallel{[](int k) {
              nopal::yield();
              dawdle(static_cast<std::uint64_t>(k));
              return k;
            }},
            stage::serial{[&](int k) {
              dawdle(static_cast<std::uint64_t>(k));
              --inside;
            }});
      });
      EXPECT_LE(most, n);
      EXPECT_EQ(inside, 0);
    }
  });
}

TEST(pipeline_test, all_tokens_are_used_where_items_wait) {
  on_pools([](nopal::pool& pool) {
    for (int const n : {1, 2, 7, 100}) {
      // Each item waits until as many have come as there are tokens, before and behind a stage where they pass one by one.
      nopal::counter before{n};
      nopal::counter behind{n};
      int ended = 0;
      auto const wait = [](nopal::counter& all) {
        return [&all](int k) {
          all.done();
          nopal::wait_for(all);
          return k;
        };
      };
      pool.run([&] {
        pipeline(tokens{n}, numbers(n), stage::parallel{wait(before)}, stage::serial{[](int k) { return k; }},
                 stage::parallel{wait(behind)}, stage::serial_in_order{[&](int k) { ended += k == ended ? 1 : 0; }});
      });
      EXPECT_EQ(ended, n);
    }
  });
}

TEST(pipeline_test, parallel_stages_run_at_once) {
  nopal::pool pool{{.workers = 5}};
  test::meeting all{5};
  pool.run([&] { pipeline(tokens{5}, numbers(5), stage::parallel{[&](int) { all.attend(); }}); });
  EXPECT_TRUE(all.took_place());
}

TEST(pipeline_test, stages_run_at_once_with_each_other) {
  nopal::pool pool{{.workers = 3}};
  test::meeting all{3};
  auto const meets = [&](int wanted) {
    return [&, wanted](int k) {
      if (k == wanted) all.attend();
      return k;
    };
  };
  pool.run([&] {
    pipeline(tokens{3}, numbers(3), stage::serial_in_order{meets(2)}, stage::serial{meets(1)}, stage::serial_in_order{meets(0)});
  });
  EXPECT_TRUE(all.took_place());
}

TEST(pipeline_test, those_who_look_on_come_back) {
  // Of short items, which one worker brings through as fast as several, others look on; then all are needed at once, and again.
  constexpr int workers = 3;
  nopal::pool pool{{.workers = workers}};
  int const shorts = static_cast<int>(test::scaled(3000));
  int const in_a_round = shorts + workers;
  constexpr int rounds = 3;
  std::vector<std::unique_ptr<test::meeting>> all;
  for (int k = 0; k < rounds; ++k) all.push_back(std::make_unique<test::meeting>(workers));
  int next = 0;
  pool.run([&] {
    pipeline(tokens{16}, numbers(rounds * in_a_round), stage::serial_in_order{[](int k) { return k; }}, stage::parallel{[&](int k) {
               if (k % in_a_round >= shorts) all[static_cast<std::size_t>(k / in_a_round)]->attend();
               return k;
             }},
             stage::serial_in_order{[&](int k) { next += k == next ? 1 : 0; }});
  });
  EXPECT_EQ(next, rounds * in_a_round);
  for (auto const& m : all) EXPECT_TRUE(m->took_place());
}

TEST(pipeline_test, those_who_look_on_hear_of_its_end) {
  // By a stop, and by an exception, amid short items.
  nopal::pool pool{{.workers = 3}};
  int const end = static_cast<int>(test::scaled(4000));
  for (int k = 0; k < 4; ++k) {
    std::stop_source asks;
    auto const run = [&](auto last) {
      pool.run([&] {
        nopal::with_stop(asks.get_token(), [&] {
          pipeline(
              tokens{16}, [n = 0]() mutable { return std::optional{n++}; }, stage::serial_in_order{[](int n) { return n; }},
              stage::serial_in_order{[&](int n) {
                if (n == end) last();
              }});
        });
      });
    };
    EXPECT_THROW(run([] { throw std::runtime_error{"the end"}; }), std::runtime_error);
    EXPECT_THROW(run([&] { asks.request_stop(); }), nopal::stopped);
  }
}

// Waiting.

TEST(pipeline_test, a_stage_that_waits_holds_a_token_and_no_worker) {
  on_pools([](nopal::pool& pool) {
    for (int const n : {2, 3, 16}) {
      // Each even item waits in the middle for the item behind it.
      constexpr int end = 100;
      std::vector<std::unique_ptr<nopal::counter>> has_come;
      for (int k = 0; k < end; ++k) has_come.push_back(std::make_unique<nopal::counter>(1));
      int next = 0;
      bool ordered = true;
      pool.run([&] {
        pipeline(tokens{n}, numbers(end), stage::serial_in_order{[&](int k) {
                   has_come[static_cast<std::size_t>(k)]->done();
                   return k;
                 }},
                 stage::parallel{[&](int k) {
                   if (k % 2 == 0) nopal::wait_for(*has_come[static_cast<std::size_t>(k) + 1]);
                   return k;
                 }},
                 stage::serial{[](int k) { return k; }}, stage::serial_in_order{[&](int k) { ordered = ordered && k == next++; }});
      });
      EXPECT_TRUE(ordered);
      EXPECT_EQ(next, end);
    }
  });
}

TEST(pipeline_test, new_items_do_not_hold_up_one_that_was_woken) {
  auto const ends = [](int n) {
    nopal::counter one_has_come{1};
    std::atomic<bool> has_ended{false};
    pipeline(
        tokens{n}, [&, k = 0L]() mutable -> std::optional<long> { return has_ended ? std::nullopt : std::optional{k++}; },
        stage::parallel{[&](long k) {
          if (k == 1) one_has_come.done();
          if (k != 0) return;
          nopal::wait_for(one_has_come);
          has_ended = true;
        }});
  };
  for (unsigned const workers : {1U, 2U, 3U}) {
    for (auto const resume : {nopal::resume::anywhere, nopal::resume::home}) {
      nopal::pool pool{{.workers = workers, .resume = resume}};
      for (int const n : {2, 3, 100}) {
        pool.run([&] { ends(n); });
        pool.run([&] {
          nopal::stay const here;
          ends(n);
        });
      }
    }
  }
}

TEST(pipeline_test, new_items_do_not_hold_up_fibers) {
  for (unsigned const workers : {1U, 2U, 3U}) {
    nopal::pool pool{{.workers = workers}};
    // On one worker the caller is a carrier; where its first item waits for the end, others are.
    for (bool const first_waits : {false, true}) {
      std::atomic<int> ran{0};
      nopal::counter fibers;
      nopal::counter last{1};
      pool.run([&] {
        pipeline(
            tokens{4}, [&, k = 0L]() mutable -> std::optional<long> { return ran == 4 ? std::nullopt : std::optional{k++}; },
            stage::parallel{[&](long k) {
              if (k == 1) {
                for (int f = 0; f < 4; ++f) {
                  nopal::spawn(fibers, [&] {
                    nopal::yield();
                    if (++ran == 4) last.done();
                  });
                }
              }
              if (k == 0 && first_waits) nopal::wait_for(last);
            }});
      });
      nopal::wait_for(fibers);
      EXPECT_EQ(ran, 4);
    }
  }
}

TEST(pipeline_test, serial_stages_and_the_source_may_wait) {
  on_pools([](nopal::pool& pool) {
    nopal::channel<int> in{4};
    nopal::channel<int> out{4};
    nopal::mutex m;
    nopal::counter fed;
    int const end = static_cast<int>(test::scaled(500));
    pool.spawn(fed, [&] {
      for (int k = 0; k < end; ++k) in.push(k);
      in.close();
    });
    long sum = 0;
    pool.spawn(fed, [&] {
      while (auto const k = out.pop()) sum += *k;
    });
    int locked = 0;
    pool.run([&] {
      pipeline(
          tokens{8}, [&] { return in.pop(); }, stage::parallel{[&](int k) {
            std::lock_guard const lock{m};
            ++locked;
            if (k % 16 == 0) nopal::yield();
            return k;
          }},
          stage::serial{[](int k) {
            if (k % 64 == 0) nopal::sleep_for(std::chrono::microseconds{10});
            return k;
          }},
          stage::serial_in_order{[&](int k) { out.push(k); }});
    });
    out.close();
    nopal::wait_for(fed);
    EXPECT_EQ(locked, end);
    EXPECT_EQ(sum, static_cast<long>(end) * (end - 1) / 2);
  });
}

TEST(pipeline_test, stages_may_depend_on_each_other_through_the_source) {
  // The source gives an item only when one has come out: with two tokens one is always on its way.
  on_pools([](nopal::pool& pool) {
    nopal::semaphore may_begin{1};
    int ended = 0;
    pool.run([&] {
      pipeline(
          tokens{2},
          [&, k = 0]() mutable -> std::optional<int> {
            if (k == 50) return std::nullopt;
            may_begin.acquire();
            return k++;
          },
          stage::serial_in_order{[&](int) {
            ++ended;
            may_begin.release();
          }});
    });
    EXPECT_EQ(ended, 50);
  });
}

// Callers.

int through_a_pipeline(int end) {
  int count = 0;
  pipeline(tokens{4}, numbers(end), stage::parallel{[](int k) { return k; }}, stage::serial{[&](int) { ++count; }});
  return count;
}
nopal::task<int> through_a_task(int end) {
  int a = 0;
  int b = 0;
  co_await nopal::fork(&a, [](int n) -> nopal::task<int> { co_return through_a_pipeline(n); }, end);
  co_await nopal::call(&b, [](int n) -> nopal::task<int> { co_return through_a_pipeline(n); }, end);
  co_await nopal::join;
  co_return a + b;
}

TEST(pipeline_test, is_called_from_anywhere) {
  int const end = static_cast<int>(test::scaled(300));
  EXPECT_EQ(through_a_pipeline(end), end);  // this thread works for no pool
  on_pools([end](nopal::pool& pool) {
    EXPECT_EQ(pool.run(through_a_pipeline, end), end);
    EXPECT_EQ(pool.run(through_a_task, end), 2 * end);
    nopal::counter left;
    std::atomic<int> sum{0};
    for (int k = 0; k < 5; ++k) pool.spawn(left, [&] { sum += through_a_pipeline(end); });
    nopal::wait_for(left);
    EXPECT_EQ(sum, 5 * end);
    pool.run([&] {
      nopal::parallel_for(0, 8, [&](int) { sum += through_a_pipeline(end); });
      nopal::scope s;
      for (int k = 0; k < 4; ++k) s.fork([&] { sum += through_a_pipeline(end); });
      s.join();
      nopal::parallel_invoke([&] { sum += through_a_pipeline(end); }, [&] { sum += through_a_pipeline(end); });
    });
    EXPECT_EQ(sum, 19 * end);
  });
}

TEST(pipeline_test, threads_outside_may_run_several_at_once) {
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) sum += through_a_pipeline(50);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 4 * 20 * 50);
}

TEST(pipeline_test, nests) {
  in_pools([](tokens n) {
    std::vector<int> out;
    pipeline(n, numbers(20), stage::parallel{[n](int k) {
               int inner = 0;
               pipeline(n, numbers(k), stage::parallel{[](int j) {
                          dawdle(static_cast<std::uint64_t>(j));
                          return j;
                        }},
                        stage::serial{[&](int) { ++inner; }});
               return inner;
             }},
             stage::serial_in_order{[&](int k) {
               nopal::parallel_for(0, 3, [](int) {});
               out.push_back(k);
             }});
    ASSERT_EQ(out.size(), 20U);
    for (int k = 0; k < 20; ++k) EXPECT_EQ(out[static_cast<std::size_t>(k)], k);
  });
}

TEST(pipeline_test, stacks_may_stay) {
  for (auto const resume : {nopal::resume::anywhere, nopal::resume::home}) {
    nopal::pool pool{{.workers = 3, .resume = resume}};
    pool.run([] {
      for (int k = 0; k < 20; ++k) {
        nopal::stay const here;
        std::thread::id const me = std::this_thread::get_id();
        int count = 0;
        pipeline(tokens{8}, numbers(100), stage::parallel{[](int i) {
                   if (i % 10 == 0) nopal::yield();
                   return i;
                 }},
                 stage::serial_in_order{[&](int) { ++count; }});
        EXPECT_EQ(count, 100);
        EXPECT_EQ(std::this_thread::get_id(), me);
      }
    });
  }
}

TEST(pipeline_test, a_pool_that_does_not_steal_runs_them) {
  nopal::pool pool{{.workers = 2, .experimental = {.steal = false}}};
  EXPECT_EQ(pool.run(through_a_pipeline, 100), 100);
}

TEST(pipeline_test, stages_run_in_the_mode_of_the_caller) {
  nopal::pool pool{{.workers = 5}};
  std::atomic<int> others{0};
  pool.run([&] {
    int const before = std::fegetround();
    std::fesetround(FE_UPWARD);
    nopal::floating_point_mode_changed();
    pipeline(tokens{8}, numbers(200), stage::parallel{[&](int k) {
               if (std::fegetround() != FE_UPWARD) ++others;
               dawdle(static_cast<std::uint64_t>(k));
               return k;
             }},
             stage::serial_in_order{[&](int) {
               if (std::fegetround() != FE_UPWARD) ++others;
             }});
    std::fesetround(before);
    nopal::floating_point_mode_changed();
  });
  EXPECT_EQ(others, 0);
}

// Types.

/// Counts the objects that live.
struct counted {
  static inline std::atomic<int> live{0};
  int k;
  explicit counted(int n) : k{n} { ++live; }
  counted(counted&& c) noexcept : k{std::exchange(c.k, -1)} { ++live; }
  counted& operator=(counted&&) = delete;
  ~counted() { --live; }
};

TEST(pipeline_test, moves_what_cannot_be_copied) {
  in_pools([](tokens n) {
    int next = 0;
    pipeline(
        n,
        [k = 0]() mutable -> std::optional<std::unique_ptr<int>> {
          return k < 100 ? std::optional{std::make_unique<int>(k++)} : std::nullopt;
        },
        stage::parallel{[](std::unique_ptr<int> p) { return p; }}, stage::serial{[](std::unique_ptr<int>&& p) { return counted{*p}; }},
        stage::parallel{[](counted&& c) { return std::make_unique<counted>(std::move(c)); }},
        stage::serial_in_order{[&](std::unique_ptr<counted> const& c) { EXPECT_EQ(c->k, next++); }});
    EXPECT_EQ(next, 100);
    EXPECT_EQ(counted::live, 0);
  });
}

/// Neither moves nor is aligned as others are; has no address that can be asked for, and its comma is taken.
struct alignas(256) immovable {
  int k;
  explicit immovable(int n) : k{n} {}
  immovable(immovable const&) = delete;
  immovable& operator=(immovable const&) = delete;
  void operator&() const = delete;
  template <class T>
  void operator,(T&&) const = delete;
  bool aligned() const { return reinterpret_cast<std::uintptr_t>(std::addressof(*this)) % 256 == 0; }
};
struct greedy {  // its constructor takes anything
  int k = 0;
  greedy() = default;
  template <class T>
  explicit greedy(T&&) : k{-1} {}
};

TEST(pipeline_test, values_stay_where_they_are_made) {
  in_pools([](tokens n) {
    std::atomic<int> misplaced{0};
    int next = 0;
    pipeline(
        n, [k = 0]() mutable { return k < 50 ? std::optional<immovable>{std::in_place, k++} : std::optional<immovable>{}; },
        stage::parallel{[](immovable&& i) { return immovable{i.k}; }}, stage::serial{[&](immovable&& i) {
          if (!i.aligned()) ++misplaced;
          return immovable{i.k};
        }},
        stage::parallel{[&](immovable const& i) {
          if (!i.aligned()) ++misplaced;
          greedy g;
          g.k = i.k;
          return g;
        }},
        stage::serial_in_order{[&](greedy g) {
          EXPECT_EQ(g.k, next++);
          return immovable{g.k};  // dropped
        }});
    EXPECT_EQ(misplaced, 0);
    EXPECT_EQ(next, 50);
  });
}

struct vec {
  int x = 0;
  int twice() const { return 2 * x; }
};

TEST(pipeline_test, calls_whatever_can_be_called) {
  struct counter_of_calls {
    int calls = 0;
    int operator()(int k) {
      ++calls;
      return k;
    }
  } counts;
  nopal::pool pool{{.workers = 2}};
  std::vector<int> out;
  auto const serial = stage::serial{[](int k) { return vec{k}; }};
  pool.run([&] {
    auto source = numbers(10);
    pipeline(tokens{3}, source, stage::serial_in_order{std::ref(counts)}, serial, stage::parallel{&vec::twice},
             stage::serial_in_order{[&, last = std::make_unique<int>(1)](int k) { out.push_back(k + *last); }});
    EXPECT_FALSE(source());
  });
  EXPECT_EQ(counts.calls, 10);
  EXPECT_EQ(out, (std::vector<int>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19}));
}

TEST(pipeline_test, a_reference_is_copied_for_the_next_stage) {
  nopal::pool pool{{.workers = 2}};
  std::string joined;
  pool.run([&] {
    pipeline(
        tokens{3},
        [k = 0]() mutable -> std::optional<std::string> {
          return k < 5 ? std::optional{std::string(40, static_cast<char>('a' + k++))} : std::nullopt;
        },
        stage::parallel{[](std::string&& s) -> std::string&& { return std::move(s); }},
        stage::parallel{[](std::string const& s) -> std::string const& { return s; }},
        stage::serial_in_order{[&](std::string s) { joined += s[39]; }});
  });
  EXPECT_EQ(joined, "abcde");
}

// Exceptions.

struct thrown : std::runtime_error {
  int item;
  int stage;
  thrown(int i, int s) : std::runtime_error{"item " + std::to_string(i) + " in stage " + std::to_string(s)}, item{i}, stage{s} {}
};

/// Items up to 60, of which some throw somewhere: `where(k)` is the stage, 0 is the source, or below 0 for none.
template <class Where>
void throws_the_first(tokens n, Where where) {
  constexpr int end = 60;
  int first = 0;
  while (first < end && where(first) < 0) ++first;
  std::array<std::atomic<int>, 5> ran{};
  std::atomic<int> last_begun{-1};
  auto const may_throw = [&](int k, int s) {
    dawdle(static_cast<std::uint64_t>(5 * k + s));
    if (where(k) == s) throw thrown{k, s};
    if (k < first) ++ran[static_cast<std::size_t>(s)];
  };
  auto const passes = [&](int s) {
    return [&, s](counted c) {
      may_throw(c.k, s);
      return c;
    };
  };
  thrown met{-1, -1};
  try {
    pipeline(
        n,
        [&, k = 0]() mutable -> std::optional<counted> {
          if (k == end) return std::nullopt;
          last_begun = k;
          may_throw(k, 0);
          return counted{k++};
        },
        stage::parallel{passes(1)}, stage::serial_in_order{passes(2)}, stage::serial{passes(3)}, stage::serial_in_order{passes(4)});
  } catch (thrown const& t) {
    met = t;
  }
  EXPECT_EQ(met.item, first < end ? first : -1);
  EXPECT_EQ(met.stage, first < end ? where(first) : -1);
  for (auto const& r : ran) EXPECT_EQ(r, first);
  EXPECT_LE(last_begun, first + n.items);
  EXPECT_EQ(counted::live, 0);
}

TEST(pipeline_test, throws_from_every_place) {
  on_pools([](nopal::pool& pool) {
    for (int const n : {1, 2, 9}) {
      for (int s = 0; s < 5; ++s) {
        for (int const item : {0, 1, 7, 59}) {
          SCOPED_TRACE("item " + std::to_string(item) + ", stage " + std::to_string(s));
          pool.run([&] { throws_the_first(tokens{n}, [&](int k) { return k == item ? s : -1; }); });
        }
      }
    }
  });
}

TEST(pipeline_test, throws_what_serial_execution_would_have_met_first) {
  on_pools([](nopal::pool& pool) {
    for (unsigned seed = 0; seed < static_cast<unsigned>(test::scaled(60)); ++seed) {
      SCOPED_TRACE(seed);
      auto const where = [seed](int k) {
        unsigned const x = (static_cast<unsigned>(k) * 2654435761U ^ seed * 40503U) >> 7;
        return x % 8 == 0 ? static_cast<int>(x / 8 % 5) : -1;
      };
      pool.run([&] { throws_the_first(tokens{1 + seed % 12}, where); });
    }
  });
}

TEST(pipeline_test, an_earlier_item_that_throws_late_comes_first) {
  // Item 1 throws at once; item 0 waits until it has, and throws then.
  on_pools([](nopal::pool& pool) {
    nopal::counter second{1};
    int item = -1;
    pool.run([&] {
      try {
        pipeline(tokens{2}, numbers(10), stage::parallel{[&](int k) {
                   if (k == 1) {
                     second.done();
                     throw thrown{1, 1};
                   }
                   nopal::wait_for(second);
                   return k;
                 }},
                 stage::serial_in_order{[](int k) { throw thrown{k, 2}; }});
      } catch (thrown const& t) {
        item = t.item;
      }
    });
    EXPECT_EQ(item, 0);
  });
}

struct throws_when_moved {
  int k;
  explicit throws_when_moved(int n) : k{n} { ++live; }
  throws_when_moved(throws_when_moved&& t) : k{t.k} {
    if (k == 5) throw thrown{5, 1};
    ++live;
  }
  ~throws_when_moved() { --live; }
  static inline std::atomic<int> live{0};
};

TEST(pipeline_test, a_move_may_throw) {
  in_pools([](tokens n) {
    int item = -1;
    try {
      pipeline(n, numbers(20), stage::parallel{[](int k) { return throws_when_moved{k}; }},
               stage::serial{[](throws_when_moved t) { return t.k; }}, stage::serial_in_order{[](int) {}});
    } catch (thrown const& t) {
      item = t.item;
    }
    EXPECT_EQ(item, 5);
    EXPECT_EQ(throws_when_moved::live, 0);
  });
}

// Stopping.

TEST(pipeline_test, stops) {
  on_pools([](nopal::pool& pool) {
    for (int const n : {1, 2, 16}) {
      std::stop_source asks;
      std::atomic<int> begun{0};
      std::atomic<int> missed{0};
      EXPECT_THROW(pool.run([&] {
        nopal::with_stop(asks.get_token(), [&] {
          pipeline(
              tokens{n}, [&] { return std::optional{counted{begun++}}; },  // for ever
              stage::parallel{[&](counted c) {
                if (c.k == 50) asks.request_stop();
                if (c.k == 50 && !nopal::stop_requested()) ++missed;
                return c;
              }},
              stage::serial_in_order{[](counted const&) {}});
        });
      }),
                   nopal::stopped);
      EXPECT_EQ(missed, 0);
      EXPECT_GT(begun, 50);
      EXPECT_EQ(counted::live, 0);
    }
  });
}

TEST(pipeline_test, asks_the_source_for_nothing_where_it_is_stopped) {
  std::stop_source asked;
  asked.request_stop();
  bool called = false;
  auto const source = [&]() -> std::optional<int> {
    called = true;
    return std::nullopt;
  };
  EXPECT_THROW(nopal::with_stop(asked.get_token(), [&] { pipeline(tokens{2}, source, stage::parallel{[](int) {}}); }), nopal::stopped);
  EXPECT_FALSE(called);
  nopal::pool pool{{.workers = 2}};
  EXPECT_THROW(pool.run([&] { nopal::with_stop(asked.get_token(), [&] { pipeline(tokens{2}, source, stage::parallel{[](int) {}}); }); }),
               nopal::stopped);
  EXPECT_FALSE(called);
}

TEST(pipeline_test, a_time_limit_ends_it) {
  on_pools([](nopal::pool& pool) {
    for (bool const waits : {false, true}) {
      long next = 0;
      EXPECT_THROW(pool.run([&] {
        nopal::with_time_limit(std::chrono::milliseconds{5}, [&] {
          pipeline(
              tokens{4}, [k = 0L]() mutable { return std::optional{k++}; }, stage::parallel{[&](long k) {
                if (waits) nopal::yield();
                return k;
              }},
              stage::serial_in_order{[&](long k) {
                EXPECT_EQ(k, next);
                ++next;
              }});
        });
      }),
                   nopal::stopped);
    }
  });
}

TEST(pipeline_test, a_stop_ends_what_its_stages_wait_for) {
  on_pools([](nopal::pool& pool) {
    std::stop_source asks;
    nopal::channel<int> never{1};
    EXPECT_THROW(pool.run([&] {
      nopal::with_stop(asks.get_token(), [&] {
        pipeline(tokens{4}, numbers(100), stage::parallel{[&](int k) {
                   if (k == 3) asks.request_stop();
                   return *never.pop();
                 }},
                 stage::serial{[](int) {}});
      });
    }),
                 nopal::stopped);
  });
}

TEST(pipeline_test, later_children_of_a_scope_are_not_its_callers) {
  // The scope's function calls it after a child has thrown: that is no reason to stop.
  on_pools([](nopal::pool& pool) {
    int count = 0;
    EXPECT_THROW(pool.run([&] {
      nopal::scope s;
      for (int k = 0; k < 3; ++k) s.fork([] { throw thrown{0, 0}; });
      count = through_a_pipeline(200);
      s.join();
    }),
                 thrown);
    EXPECT_EQ(count, 200);
  });
}

// Bad input.

TEST(pipeline_test, needs_a_token) {
  bool called = false;
  auto const source = [&]() -> std::optional<int> {
    called = true;
    return std::nullopt;
  };
  for (long const n : {0L, -1L, std::numeric_limits<long>::min()}) {
    try {
      pipeline(tokens{n}, source, stage::parallel{[](int) {}});
      ADD_FAILURE() << "it has let " << n << " tokens pass";
    } catch (std::invalid_argument const& e) {
      EXPECT_EQ(std::string{e.what()}, "nopal::pipeline: tokens{" + std::to_string(n) +
                                           "} lets no item in; at least 1 is needed: give as many as may be in the pipeline at once");
    }
  }
  EXPECT_THROW(pipeline(tokens{std::numeric_limits<std::uint64_t>::max()}, source, stage::parallel{[](int) {}}), std::bad_alloc);
  EXPECT_FALSE(called);
}

// Hand-over, under load.

TEST(pipeline_test, many_short_items_are_handed_on) {
  on_pools([](nopal::pool& pool) {
    for (int const n : {1, 2, 3, 5, 40}) {
      long const end = test::scaled(60'000);
      long next[3] = {0, 0, 0};
      long sum = 0;
      pool.run([&] {
        pipeline(
            tokens{n}, [&, k = 0L]() mutable -> std::optional<long> { return k < end ? std::optional{k++} : std::nullopt; },
            stage::serial_in_order{[&](long k) { return k == next[0] ? next[0]++ : -1; }},
            stage::serial{[&](long k) { return sum += k, k; }},
            stage::serial_in_order{[&](long k) { return k == next[1] ? next[1]++ : -1; }}, stage::parallel{[](long k) { return k; }},
            stage::serial_in_order{[&](long k) { next[2] += k == next[2] ? 1 : 0; }});
      });
      EXPECT_EQ(sum, end * (end - 1) / 2);
      for (long const each : next) EXPECT_EQ(each, end);
    }
  });
}

TEST(pipeline_test, short_pipelines_come_one_after_the_other) {
  on_pools([](nopal::pool& pool) {
    pool.run([] {
      for (int k = 0; k < test::scaled(3000); ++k) ASSERT_EQ(through_a_pipeline(k % 7), k % 7);
    });
  });
}

}  // namespace

// If a child of a scope throws, the later ones get a request to stop, and nothing earlier does: so the exception stays the one that serial
// execution would have thrown first.
// Needs the companion simulation.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "failure.hpp"
#include "nopal/fiber.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/scope.hpp"
#include "nopal/stop.hpp"
#include "nopal/task.hpp"

namespace {

using test::await;
using test::failure;
using test::run_until_asked;
using test::thrown_by;

// The child that throws has lost its parent to a thief, which has forked the others.
TEST(children, later_children_of_a_scope_are_asked) {
  for (auto const schedule : {nopal::schedule::free, nopal::schedule::steal_always}) {
    nopal::pool pool{{.workers = 3, .schedule = schedule}};
    // Who spins gives no turn back, so under a controlled schedule each round loses some, of 50 ms each.
    int const rounds = schedule == nopal::schedule::free ? 50 : 3;
    for (int round = 0; round < rounds; ++round) {
      std::atomic<int> begun{0};
      std::atomic<int> asked{0};
      bool parent = true;
      EXPECT_EQ(thrown_by(pool,
                          [&] {
                            nopal::scope s;
                            s.fork([&] {
                              while (begun == 0) std::this_thread::yield();
                              throw failure{1};
                            });
                            for (int k = 0; k < 3; ++k) {
                              s.fork([&] {
                                ++begun;
                                nopal::parallel_invoke([&] { run_until_asked(); }, [&] { run_until_asked(); });
                                ++asked;
                              });
                            }
                            parent = nopal::stop_requested();
                            s.join();
                          }),
                1);
      EXPECT_EQ(asked, 3);
      EXPECT_FALSE(parent) << "the scope's function is none of its children";
      EXPECT_FALSE(pool.run([] { return nopal::stop_requested(); }));
    }
  }
}

// Nothing is stolen, so the child has thrown before the others begin.
TEST(children, children_that_begin_later_are_asked) {
  for (auto const schedule : {nopal::schedule::free, nopal::schedule::steal_never}) {
    nopal::pool pool{{.workers = 1, .schedule = schedule}};
    for (int depth = 0; depth < 3; ++depth) {
      int asked = 0;
      std::function<void(int)> const tree = [&](int d) {
        if (d > 0) return nopal::parallel_invoke([&] { tree(d - 1); }, [&] { tree(d - 1); });
        EXPECT_FALSE(nopal::stop_requested());
        nopal::scope s;
        s.fork([&] { asked -= nopal::stop_requested() ? 100 : 0; });
        s.fork([] { throw failure{1}; });
        s.fork([&] {
          asked += nopal::stop_requested() ? 1 : 0;
          nopal::parallel_invoke([&] { asked += nopal::stop_requested() ? 1 : 0; }, [&] { asked += nopal::stop_requested() ? 1 : 0; });
        });
        EXPECT_FALSE(nopal::stop_requested());
        nopal::parallel_invoke([] { EXPECT_FALSE(nopal::stop_requested()); }, [] { EXPECT_FALSE(nopal::stop_requested()); });
        s.fork([&] { asked += nopal::stop_requested() ? 1 : 0; });
        EXPECT_THROW(s.join(), failure);
        EXPECT_FALSE(nopal::stop_requested());
        s.fork([&] { asked -= nopal::stop_requested() ? 100 : 0; });
        s.join();
      };
      pool.run([&] { tree(depth); });
      EXPECT_EQ(asked, 4 << depth);
    }
  }
}

// Of three children the second throws: the first gets no request, and the second's exception is thrown.
TEST(children, no_earlier_child_of_a_scope_is_asked) {
  nopal::pool pool{{.workers = 3}};
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> third_begun{false}, third_asked{false};
    bool asked = true;
    EXPECT_EQ(thrown_by(pool,
                        [&] {
                          nopal::scope s;
                          s.fork([&] {
                            await(third_asked);
                            asked = nopal::stop_requested();
                            throw failure{1};
                          });
                          s.fork([&] {
                            await(third_begun);
                            throw failure{2};
                          });
                          s.fork([&] {
                            third_begun = true;
                            run_until_asked();
                            third_asked = true;
                          });
                          s.join();
                        }),
              1);
    EXPECT_FALSE(asked);
  }
}

// What the scope's function calls, forks and runs itself is not a later child either, though it runs elsewhere.
TEST(children, the_function_of_a_scope_is_not_asked) {
  nopal::pool pool{{.workers = 3}};
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> begun{false};
    std::atomic<bool> throws{false};
    std::atomic<int> asked{0};
    auto const look = [&] { asked += nopal::stop_requested() ? 1 : 0; };
    auto const thrown = [&](nopal::scope& s) {
      s.fork([&] {
        begun = true;
        while (!throws) std::this_thread::yield();
        throw failure{1};
      });
      await(begun);
      throws = true;
      std::this_thread::sleep_for(std::chrono::microseconds{100});
    };
    EXPECT_EQ(thrown_by(pool,
                        [&] {
                          nopal::scope s;
                          thrown(s);
                          look();
                          nopal::parallel_invoke([&] { look(); }, [&] { look(); }, [&] { look(); });
                          nopal::sync_wait([](auto const& l) -> nopal::task<void> { co_return l(); }, look);
                          nopal::with_stop(std::stop_source{}.get_token(), look);
                          s.join();
                        }),
              1);
    EXPECT_EQ(asked, 0);
  }
}

// The children of an inner scope are later, too, and get a request. The exception of its join then is the cause.
TEST(children, an_inner_scope_throws_what_was_earlier) {
  nopal::pool pool{{.workers = 3}};
  for (bool const swallows : {false, true}) {
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> begun{0};
      std::atomic<bool> asked{false};
      bool after = false;
      EXPECT_EQ(thrown_by(pool,
                          [&] {
                            nopal::scope s;
                            s.fork([&] {  // throws last, and is the first in order
                              await(asked);
                              std::this_thread::sleep_for(std::chrono::microseconds{50});
                              throw failure{1};
                            });
                            s.fork([&] {
                              while (begun < 2) std::this_thread::yield();
                              throw failure{2};
                            });
                            ++begun;
                            auto const inside = [&] {
                              nopal::scope inner;
                              inner.fork([&] {
                                ++begun;
                                run_until_asked();
                                asked = true;
                                nopal::stop_point();
                              });
                              inner.join();
                              ADD_FAILURE() << "it throws";
                            };
                            if (swallows) {
                              EXPECT_THROW(inside(), failure);
                            } else {
                              inside();
                            }
                            after = true;
                            s.fork([&] { EXPECT_TRUE(nopal::stop_requested()); });
                            s.join();
                          }),
                1);
      EXPECT_EQ(after, swallows);
    }
  }
}

// A scope that is forked in a region and joined after the region's end, or the other way round.
TEST(children, may_outlive_the_region_that_they_were_forked_in) {
  for (auto const& o : std::vector<nopal::pool_options>{
           {.workers = 3}, {.workers = 2, .schedule = nopal::schedule::steal_always}, {.workers = 2, .resume = nopal::resume::home}}) {
    nopal::pool pool{o};
    for (int round = 0; round < 200; ++round) {
      std::stop_source source;
      std::atomic<int> asked{0};
      std::atomic<bool> ended{false};
      auto const work = [&] {
        {
          nopal::scope s;
          s.fork([] {});
          nopal::with_stop(source.get_token(), [&] {
            for (int k = 0; k < 4; ++k) {
              s.fork([&, k] {
                if (k % 2 == 0) nopal::yield();
                nopal::parallel_invoke([&] { asked += nopal::stop_requested() ? 1 : 0; }, [] { nopal::yield(); });
              });
            }
          });
          ended = true;
          EXPECT_FALSE(nopal::stop_requested());
          s.fork([&] { EXPECT_FALSE(nopal::stop_requested()); });
          nopal::with_stop(std::stop_source{}.get_token(), [&] { s.join(); });
          EXPECT_FALSE(nopal::stop_requested());
        }
        nopal::scope again;
        again.fork([&] { EXPECT_FALSE(nopal::stop_requested()); });
        EXPECT_FALSE(nopal::stop_requested());
        again.join();
      };
      pool.run(work);
      EXPECT_EQ(asked, 0);
      source.request_stop();
      pool.run(work);
      EXPECT_EQ(asked, 4);
    }
  }
}

// Random trees of scopes in which many children throw: the exception is that of serial execution, and no earlier child gets a request.
void random_tree(std::uint64_t path, int depth, std::uint64_t seed) {
  std::uint64_t const x = (path * 0x9e3779b97f4a7c15 ^ seed) * 0xbf58476d1ce4e5b9;
  if (depth == 0) {
    if (x >> 60 < 3) throw failure{static_cast<int>(path & 0xffff)};
    return;
  }
  auto const next = [=](std::uint64_t k) {
    return [=] {
      if (path % 2 == 0 && nopal::stop_requested()) return;  // which leaves out only what is later than an exception
      nopal::stop_point();
      random_tree(path * 4 + k, depth - 1, seed);
    };
  };
  if (x >> 63 != 0) {
    nopal::parallel_invoke(next(1), next(2), next(3));
  } else {
    nopal::scope s;
    s.fork(next(1));
    s.fork(next(2));
    s.fork(next(3));
    s.join();
  }
}
TEST(children, the_exception_is_that_of_serial_execution) {
  nopal::pool serial{{.workers = 1}};
  std::vector<nopal::pool_options> options{{.workers = 4}, {.workers = 2, .schedule = nopal::schedule::steal_always}};
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    options.push_back({.workers = 3, .seed = seed, .schedule = nopal::schedule::steal_at_random});
  }
  for (auto const& o : options) {
    nopal::pool pool{o};
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      auto const run = [&] { random_tree(1, 4, seed); };
      EXPECT_EQ(thrown_by(pool, run), thrown_by(serial, run)) << seed;
    }
  }
}

}  // namespace

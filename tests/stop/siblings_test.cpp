// If the first half of a fork throws, the later one gets a request to stop, and nothing earlier does.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

#include "failure.hpp"
#include "nopal/counter.hpp"
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

TEST(siblings, the_later_half_is_asked) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> begun{false};
    bool asked = false;
    EXPECT_EQ(thrown_by(pool,
                        [&] {
                          nopal::parallel_invoke(
                              [&] {
                                await(begun);
                                throw failure{1};
                              },
                              [&] {
                                begun = true;
                                run_until_asked();
                                asked = true;
                                nopal::stop_point();
                              });
                        }),
              1)
        << "not the stopped of the later half";
    EXPECT_TRUE(asked);
    EXPECT_FALSE(pool.run([] { return nopal::stop_requested(); }));
  }
}

// At any depth below the later half, stolen or not, and in the tasks that are called there.
TEST(siblings, all_below_the_later_half_is_asked) {
  nopal::pool pool{{.workers = 4}};
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> begun{0};
    std::atomic<int> asked{0};
    std::function<void(int)> const tree = [&](int depth) {
      if (depth == 0) {
        ++begun;
        run_until_asked();
        ++asked;
        return;
      }
      if (depth % 2 == 0) {
        nopal::scope s;
        s.fork([&, depth] { tree(depth - 1); });
        tree(depth - 1);
        s.join();
      } else {
        nopal::parallel_invoke(
            [&] { tree(depth - 1); },
            [&] { nopal::sync_wait([](auto const& t, int d) -> nopal::task<void> { co_return t(d); }, tree, depth - 1); });
      }
    };
    EXPECT_EQ(thrown_by(pool,
                        [&] {
                          nopal::parallel_invoke(
                              [&] {
                                while (begun == 0) std::this_thread::yield();
                                throw failure{1};
                              },
                              [&] { tree(4); });
                        }),
              1);
    EXPECT_EQ(asked, 16);
  }
}

// Of three, the middle one throws: the first gets no request, and the exception of the middle one is thrown.
TEST(siblings, nothing_earlier_is_asked) {
  nopal::pool pool{{.workers = 3}};
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> third_begun{false}, third_asked{false};
    bool asked = true;
    int const e = thrown_by(pool, [&] {
      nopal::parallel_invoke(
          [&] {
            await(third_asked);
            asked = nopal::stop_requested();
            throw failure{1};
          },
          [&] {
            await(third_begun);
            throw failure{2};
          },
          [&] {
            third_begun = true;
            run_until_asked();
            third_asked = true;
          });
    });
    EXPECT_EQ(e, 1);
    EXPECT_FALSE(asked);
  }
}

// A wait does not end by an exception elsewhere if that would leave others with its variables.
TEST(siblings, no_wait_ends) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> begun{false};
    std::atomic<bool> throws{false};
    int n = 0;
    EXPECT_EQ(thrown_by(pool,
                        [&] {
                          nopal::parallel_invoke(
                              [&] {
                                await(begun);
                                throws = true;
                                throw failure{1};
                              },
                              [&] {
                                begun = true;
                                nopal::counter left;
                                nopal::spawn(left, [&] {
                                  await(throws);
                                  EXPECT_FALSE(nopal::stop_requested()) << "a fiber is no sibling";
                                  ++n;
                                });
                                nopal::wait_for(left);
                                EXPECT_EQ(n, 1);
                              });
                        }),
              1);
    EXPECT_EQ(n, 1);
  }
}

// In a region that gets a request too.
TEST(siblings, inside_of_a_region) {
  nopal::pool pool{{.workers = 2}};
  for (int round = 0; round < 50; ++round) {
    std::stop_source source;
    std::atomic<bool> begun{false};
    EXPECT_EQ(thrown_by(pool,
                        [&] {
                          nopal::with_stop(source.get_token(), [&] {
                            nopal::parallel_invoke(
                                [&] {
                                  await(begun);
                                  EXPECT_FALSE(nopal::stop_requested());
                                  throw failure{1};
                                },
                                [&] {
                                  begun = true;
                                  run_until_asked();
                                });
                            ADD_FAILURE() << "it throws";
                          });
                        }),
              1);
    std::atomic<bool> running{false};
    auto f = pool.submit(source.get_token(), [&] {
      nopal::parallel_invoke([&] { await(running); },
                             [&] {
                               running = true;
                               try {
                                 nopal::sleep_for(std::chrono::hours{1});
                               } catch (nopal::stopped const&) {
                                 return;
                               }
                               ADD_FAILURE() << "it sleeps for an hour";
                             });
    });
    await(running);
    source.request_stop();
    f.get();
  }
}

}  // namespace

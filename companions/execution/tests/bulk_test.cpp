// bulk, bulk_chunked and bulk_unchunked on a pool: each index once, on several workers, errors in serial order, stops.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <stdexec/execution.hpp>
#include <string>
#include <thread>
#include <vector>

#include "nopal/execution.hpp"
#include "nopal/nopal.hpp"

namespace ex = stdexec;

namespace {

struct bulk : testing::Test {
  nopal::pool pool{{.workers = 2}};
  decltype(nopal::get_scheduler(pool)) here = nopal::get_scheduler(pool);
};

template <class Token>
auto with_token(Token t) {
  return ex::write_env(ex::prop{ex::get_stop_token, t});
}

}  // namespace

TEST_F(bulk, calls_each_index_once) {
  for (int n : {0, 1, 2, 3, 7, 8, 9, 100, 12345}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
    auto once = [&](int i) { ++calls[static_cast<std::size_t>(i)]; };
    ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, n, once) | ex::bulk_unchunked(ex::par, n, once) | ex::bulk(ex::seq, n, once) |
                  ex::bulk_chunked(ex::par_unseq, n, [&](int first, int last) {
                    EXPECT_LT(first, last);
                    for (; first < last; ++first) once(first);
                  }));
    for (auto const& c : calls) EXPECT_EQ(c, 4) << n;
  }
  std::atomic<unsigned long> sum{0};
  ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, 100'000ul, [&](unsigned long i) { sum += i; }));
  EXPECT_EQ(sum, 99'999ul * 50'000ul);
  ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, -5, [&](int) { ++sum; }));
  EXPECT_EQ(sum, 99'999ul * 50'000ul);
}

// Each of two bodies blocks its thread until the other has begun: so they are on two threads.
TEST_F(bulk, runs_few_long_bodies_at_once) {
  if (std::getenv("NOPAL_SCHEDULE") != nullptr) GTEST_SKIP() << "one worker runs at a time";
  std::atomic<int> begun{0};
  auto meet = [&](int) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  };
  ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, 2, meet));
  begun = 0;
  ex::sync_wait(ex::schedule(here) | ex::bulk_unchunked(ex::par, 2, meet));
  begun = 0;
  ex::sync_wait(ex::schedule(here) | ex::bulk_chunked(ex::par, 2, [&](int first, int) { meet(first); }));
}

TEST_F(bulk, runs_in_one_call_where_the_policy_is_serial) {
  int calls = 0;
  ex::sync_wait(ex::schedule(here) | ex::bulk_chunked(ex::seq, 1000, [&](int first, int last) {
                  ++calls;
                  EXPECT_EQ(last - first, 1000);
                }));
  EXPECT_EQ(calls, 1);
}

TEST_F(bulk, calls_a_function_with_state_where_it_is) {
  int last = 0;
  ex::sync_wait(ex::schedule(here) | ex::bulk(ex::seq, 5, [&last, n = 0](int) mutable { last = ++n; }));
  EXPECT_EQ(last, 5);
  ex::sync_wait(ex::schedule(here) | ex::bulk_unchunked(ex::seq, 6, [&last, n = 0](int) mutable { last = ++n; }));
  EXPECT_EQ(last, 6);
}

TEST_F(bulk, passes_values_to_bodies_and_on) {
  auto const [p, sum] = *ex::sync_wait(
      ex::just(std::make_unique<int>(3), std::vector<int>(100)) | ex::continues_on(here) |
      ex::bulk(ex::par, 100, [](int i, std::unique_ptr<int>& q, std::vector<int>& v) { v[static_cast<std::size_t>(i)] = i * *q; }) |
      ex::then([](std::unique_ptr<int> q, std::vector<int> const& v) {
        int s = 0;
        for (int x : v) s += x;
        return std::tuple{std::move(q), s};
      }) |
      ex::let_value([](auto& t) { return ex::just(std::move(std::get<0>(t)), std::get<1>(t)); }));
  EXPECT_EQ(*p, 3);
  EXPECT_EQ(sum, 3 * 4950);
}

TEST_F(bulk, throws_what_serial_execution_would_have_thrown_first) {
  for (int n : {4, 50'000}) {
    int const first = n / 4;
    try {
      ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, n, [&](int i) {
                      if (i >= first) throw i;
                    }));
      ADD_FAILURE() << "threw nothing";
    } catch (int i) {
      EXPECT_EQ(i, first);
    }
  }
}

TEST_F(bulk, nests_in_itself_in_tasks_and_in_fibers) {
  std::atomic<int> n{0};
  auto inner = [&] { ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, 30, [&](int) { ++n; })); };
  ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, 30, [&](int) { inner(); }));
  EXPECT_EQ(n, 900);
  nopal::counter fibers;
  for (int i = 0; i < 10; ++i) pool.spawn(fibers, inner);
  nopal::wait_for(fibers);
  EXPECT_EQ(n, 1200);
}

TEST_F(bulk, bodies_see_a_request_of_the_receivers_token) {
  for (int n : {3, 100'000}) {
    ex::inplace_stop_source stop;
    std::atomic<bool> seen{false};
    auto const r = ex::sync_wait(ex::schedule(here) |
                                 ex::bulk(ex::par, n,
                                          [&](int) {
                                            stop.request_stop();
                                            if (nopal::stop_requested()) seen = true;
                                            nopal::stop_point();
                                          }) |
                                 with_token(stop.get_token()));
    EXPECT_FALSE(r.has_value());
    EXPECT_TRUE(seen);
  }
  std::stop_source standard;  // a token of another type
  EXPECT_FALSE(ex::sync_wait(ex::schedule(here) |
                             ex::bulk(ex::seq, 1,
                                      [&](int) {
                                        standard.request_stop();
                                        nopal::stop_point();
                                      }) |
                             with_token(standard.get_token()))
                   .has_value());
}

TEST_F(bulk, what_was_asked_before_runs_no_body) {
  ex::inplace_stop_source stop;
  stop.request_stop();
  int calls = 0;
  EXPECT_FALSE(
      ex::sync_wait(ex::just() | ex::continues_on(here) | ex::bulk(ex::par, 10, [&](int) { ++calls; }) | with_token(stop.get_token()))
          .has_value());
  EXPECT_EQ(calls, 0);
}

TEST_F(bulk, bodies_see_a_request_of_a_region_around) {
  std::stop_source stop;
  nopal::with_stop(stop.get_token(), [&] {
    EXPECT_FALSE(ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, 10'000,
                                                             [&](int) {
                                                               stop.request_stop();
                                                               nopal::stop_point();
                                                             }))
                     .has_value());
  });
}

TEST_F(bulk, a_request_of_its_token_stays_inside) {
  ex::inplace_stop_source stop;
  pool.run([&] {
    EXPECT_FALSE(ex::sync_wait(ex::schedule(here) |
                               ex::bulk(ex::par, 10,
                                        [&](int) {
                                          stop.request_stop();
                                          nopal::stop_point();
                                        }) |
                               with_token(stop.get_token()))
                     .has_value());
    EXPECT_FALSE(nopal::stop_requested());
    EXPECT_TRUE(ex::sync_wait(ex::schedule(here) | ex::bulk(ex::par, 10, [](int) {})).has_value());
  });
}

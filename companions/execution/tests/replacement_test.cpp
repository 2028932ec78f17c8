// The parallel scheduler of a program that links nopal::execution_parallel_scheduler: it runs on default_pool(), without memory of its own.

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <stdexec/execution.hpp>
#include <thread>

#include "nopal/execution/parallel_scheduler.hpp"
#include "nopal/nopal.hpp"

namespace ex = stdexec;

namespace {
template <class Token>
auto with_token(Token t) {
  return ex::write_env(ex::prop{ex::get_stop_token, t});
}
}  // namespace

TEST(replacement, runs_on_the_default_pool) {
  auto const sched = ex::get_parallel_scheduler();
  auto const [on] = *ex::sync_wait(ex::schedule(sched) | ex::then([] { return nopal::pool::current(); }));
  EXPECT_EQ(on, &nopal::default_pool());
  EXPECT_TRUE(sched == ex::get_parallel_scheduler());
}

TEST(replacement, bulk_calls_each_index_once_on_the_pool) {
  auto const sched = ex::get_parallel_scheduler();
  for (std::size_t n : std::vector<std::size_t>{0, 1, 5, 100, 50'000}) {
    std::vector<std::atomic<int>> calls(n);
    auto once = [&](std::size_t i) {
      EXPECT_EQ(nopal::pool::current(), &nopal::default_pool());
      ++calls[i];
    };
    ex::sync_wait(ex::schedule(sched) | ex::bulk(ex::par, n, once) | ex::bulk_unchunked(ex::par, n, once));
    for (auto const& c : calls) EXPECT_EQ(c, 2);
  }
}

TEST(replacement, stops) {
  auto const sched = ex::get_parallel_scheduler();
  ex::inplace_stop_source stop;
  std::atomic<bool> seen{false};
  EXPECT_FALSE(ex::sync_wait(ex::schedule(sched) |
                             ex::bulk(ex::par, 1'000'000,
                                      [&](int) {
                                        stop.request_stop();
                                        if (nopal::stop_requested()) seen = true;
                                      }) |
                             with_token(stop.get_token()))
                   .has_value());
  EXPECT_TRUE(seen);
  EXPECT_FALSE(ex::sync_wait(ex::schedule(sched) | with_token(stop.get_token())).has_value());
}

TEST(replacement, a_back_end_runs_on_any_pool) {
  nopal::pool pool{{.workers = 1}};
  auto const back = nopal::make_parallel_scheduler_backend(pool);
  struct noting : ex::parallel_scheduler_replacement::receiver_proxy {
    std::atomic<nopal::pool*> on{nullptr};
    nopal::latch done{1};
    void set_value() noexcept override {
      on = nopal::pool::current();
      done.count_down();
    }
    void set_error(std::exception_ptr) noexcept override { done.count_down(); }
    void set_stopped() noexcept override { done.count_down(); }

   protected:
    void __query_env(ex::__type_index, ex::__type_index, void*) const noexcept override {}
  };
  noting in_storage;
  alignas(8) std::byte storage[72];
  back->schedule(in_storage, storage);
  in_storage.done.wait();
  EXPECT_EQ(in_storage.on, &pool);
  noting too_small;
  back->schedule(too_small, {});
  too_small.done.wait();
  EXPECT_EQ(too_small.on, &pool);
}

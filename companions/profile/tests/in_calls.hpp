#pragma once

// Shared by the tests of work and span: a region in calls, and its expected numbers, on any workers and schedule.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "nopal/nopal.hpp"
#include "nopal/profile.hpp"

namespace nopal_test {

inline constexpr int burden = 5;

/// Work, span and burdened span in calls.
struct numbers {
  double work = 0, span = 0, burdened = 0;
  friend bool operator==(numbers const&, numbers const&) = default;
  friend std::ostream& operator<<(std::ostream& out, numbers const& n) {
    return out << "work " << n.work << ", span " << n.span << ", burdened span " << n.burdened;
  }
};

/// The expected numbers: a function moves along its own path; its children's paths leave it and return. Every call counts 1.
class call {
 public:
  /// Forks a child; what follows may move, and the child's return.
  void fork(numbers const& child) {
    n_.work += child.work;
    joined_.span = std::max(joined_.span, n_.span + child.span);
    joined_.burdened = std::max(joined_.burdened, n_.burdened + child.burdened + burden);
    n_.burdened += burden;
  }
  /// The last function of a parallel_invoke, a called task, or a job that is waited for: it takes the place of what follows.
  void calls(numbers const& child) {
    n_.work += child.work;
    n_.span += child.span;
    n_.burdened += child.burdened;
  }
  /// Spawns a fiber: the fiber moves.
  void spawn(numbers const& fiber) {
    n_.work += fiber.work;
    joined_.span = std::max(joined_.span, n_.span + fiber.span);
    joined_.burdened = std::max(joined_.burdened, n_.burdened + burden + fiber.burdened + burden);
  }
  void spawn_and_wait(numbers const& fiber) {
    n_.work += fiber.work;
    n_.span += fiber.span;
    n_.burdened += burden + fiber.burdened + burden;
  }
  void join() {
    n_.span = std::max(n_.span, joined_.span);
    n_.burdened = std::max(n_.burdened, joined_.burdened);
    joined_ = {};
  }
  /// parallel_invoke of these.
  template <class... Rest>
  void invoke(numbers const& first, Rest const&... rest) {
    invoke_some(first, rest...);
    join();
  }
  operator numbers() const { return n_; }

 private:
  template <class... Rest>
  void invoke_some(numbers const& first, Rest const&... rest) {
    if constexpr (sizeof...(Rest) == 0) {
      // It arrives at the join without a burden; nothing follows it.
      n_.work += first.work;
      joined_.span = std::max(joined_.span, n_.span + first.span);
      joined_.burdened = std::max(joined_.burdened, n_.burdened + first.burdened);
    } else {
      fork(first);
      invoke_some(rest...);
    }
  }

  numbers n_{1, 1, 1};
  numbers joined_;
};

inline numbers numbers_of(nopal::profile_report const& r) { return {r.work, r.span, r.burdened_span}; }

/// The report of f(args...), a job on a pool of so many workers.
template <class F, class... A>
nopal::profile_report in_calls(unsigned workers, F&& f, A&&... args) {
  nopal::pool_options options;
  options.workers = workers;
  nopal::pool pool{options};
  nopal::profile p{{.unit = nopal::profile_unit::calls, .burden = burden}};
  pool.run(std::forward<F>(f), std::forward<A>(args)...);
  p.stop();
  return p.report();
}

class on_workers : public testing::TestWithParam<unsigned> {};

}  // namespace nopal_test

#define NOPAL_TEST_ON_WORKERS(suite)              \
  class suite : public nopal_test::on_workers {}; \
  INSTANTIATE_TEST_SUITE_P(on, suite, testing::Values(1U, 2U, 8U))

// Random trees of tasks that throw, compared with the serial run of the same tree: the same exception must be caught at the same place, and
// no task may catch one while its children run.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <thread>

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

/// Names the node that threw it; counts its living instances.
struct of_node : std::exception {
  explicit of_node(std::uint64_t id) : node{id} { ++living; }
  of_node(of_node const& o) noexcept : std::exception{o}, node{o.node} { ++living; }
  of_node& operator=(of_node const&) = default;
  ~of_node() override { --living; }
  std::uint64_t node;
  static inline std::atomic<long> living{0};
};

/// An argument of every child; copying some of them throws.
struct ticket {
  explicit ticket(std::uint64_t id, bool bad) : node{id}, tears{bad} {}
  ticket(ticket const& o) : node{o.node}, tears{o.tears} {
    if (tears) throw of_node{~node};
  }
  ticket& operator=(ticket const&) = default;
  std::uint64_t node;
  bool tears;
};

/// What a node does, drawn from its name.
struct plan {
  explicit plan(std::uint64_t id, int depth) : node{id}, draw{mix(id)}, children{depth == 0 ? 0u : pick(4)} {
    throws_first = pick(16) == 0;
    throws_last = pick(16) == 0;
    catches = pick(3) != 0;
    scopes = 1 + pick(2);
    waits = pick(8) == 0;
  }
  unsigned pick(unsigned n) {
    draw = mix(draw);
    return static_cast<unsigned>(draw % n);
  }
  std::uint64_t child(unsigned scope, unsigned k) const { return mix(node + scope * 16 + k + 1); }
  static bool is_called(std::uint64_t child) { return child % 3 == 0; }
  static bool tears(std::uint64_t child) { return child % 41 == 0; }

  std::uint64_t node;
  std::uint64_t draw;
  unsigned children;
  bool throws_first, throws_last, catches, waits;
  unsigned scopes;
};

std::uint64_t serial(std::uint64_t id, int depth) {
  plan const p{id, depth};
  if (p.throws_first) throw of_node{id};
  std::uint64_t sum = id;
  for (unsigned s = 0; s < p.scopes; ++s) {
    std::uint64_t results[4]{};
    std::optional<of_node> caught;
    try {
      for (unsigned k = 0; k < p.children; ++k) {
        if (plan::tears(p.child(s, k))) throw of_node{~p.child(s, k)};
        results[k] = serial(p.child(s, k), depth - 1);
      }
      for (std::uint64_t const r : results) sum = mix(sum + r);
    } catch (of_node const& e) {
      if (!p.catches) throw;
      sum = mix(sum ^ e.node);
    }
  }
  if (p.throws_last) throw of_node{id + 1};
  return sum;
}

std::atomic<long> told_too_early{0};

task<std::uint64_t> parallel(ticket t, int depth, std::atomic<int>& siblings) {
  struct alive {
    explicit alive(std::atomic<int>& n) : count{n} { ++count; }
    ~alive() { --count; }
    std::atomic<int>& count;
  } const here{siblings};
  std::uint64_t const id = t.node;
  plan const p{id, depth};
  if (p.waits) std::this_thread::yield();
  if (p.throws_first) throw of_node{id};
  std::uint64_t sum = id;
  std::atomic<int> children{0};
  for (unsigned s = 0; s < p.scopes; ++s) {
    std::uint64_t results[4]{};
    std::exception_ptr caught;
    // A catch clause cannot wait: an exception before the join is kept until after it.
    try {
      for (unsigned k = 0; k < p.children; ++k) {
        std::uint64_t const child = p.child(s, k);
        ticket const its{child, plan::tears(child)};
        if (plan::is_called(child)) {
          co_await call(&results[k], parallel, its, depth - 1, children);
        } else {
          co_await fork(&results[k], parallel, its, depth - 1, children);
        }
      }
    } catch (of_node const&) {
      caught = std::current_exception();
    }
    try {
      co_await join;
      if (caught != nullptr) std::rethrow_exception(caught);
      if (children != 0) ++told_too_early;
      for (std::uint64_t const r : results) sum = mix(sum + r);
    } catch (of_node const& e) {
      if (children != 0) ++told_too_early;
      if (!p.catches) throw;
      sum = mix(sum ^ e.node);
    }
  }
  if (p.throws_last) throw of_node{id + 1};
  co_return sum;
}

template <class F>
std::uint64_t outcome(F&& f) {
  try {
    return f();
  } catch (of_node const& e) {
    return ~mix(e.node);
  }
}

class exceptions_stress : public testing::TestWithParam<unsigned> {};

TEST_P(exceptions_stress, are_those_of_the_serial_run) {
  nopal::pool pool{{.workers = GetParam(), .idle = GetParam() == 3 ? nopal::idle::busy : nopal::idle::lazy}};
  long const seeds = test::scaled(4000);
  std::atomic<int> roots{0};
  for (long seed = 0; seed < seeds; ++seed) {
    int const depth = 3 + static_cast<int>(seed % 5);
    std::uint64_t const root = mix(static_cast<std::uint64_t>(seed));
    ASSERT_EQ(outcome([&] { return pool.run(parallel, ticket{root, false}, depth, roots); }), outcome([&] { return serial(root, depth); }))
        << "seed " << seed;
    ASSERT_EQ(told_too_early.load(), 0) << "seed " << seed;
    ASSERT_EQ(of_node::living.load(), 0) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(workers, exceptions_stress, testing::Values(1, 2, 3, 4, 8),
                         [](auto const& chosen) { return std::to_string(chosen.param); });

}  // namespace

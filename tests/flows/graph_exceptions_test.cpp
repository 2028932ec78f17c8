// Exceptions of a graph's nodes, and requests to stop: which nodes do not begin, and what run throws.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "nopal/fiber.hpp"
#include "nopal/graph.hpp"
#include "nopal/pool.hpp"
#include "nopal/stop.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::after;
using nopal::graph_node;

template <class F>
int thrown_by(F f) {
  try {
    f();
  } catch (int n) {
    return n;
  }
  return -1;
}

TEST(graph_exceptions, what_follows_does_not_begin) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph g;
  std::atomic<int> ran{0};
  bool throws = true;
  auto const a = g.node([&] { ++ran; });
  auto const b = g.node(
      [&] {
        if (throws) throw 7;
        ++ran;
      },
      after(a));
  auto const c = g.node([&] { ++ran; }, after(b));
  g.node([&] { ++ran; }, after(c, a));
  EXPECT_EQ(thrown_by([&] { pool.run(g); }), 7);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(thrown_by([&] { g.run(); }), 7);
  throws = false;  // and then it runs as if nothing had been
  ran = 0;
  EXPECT_EQ(thrown_by([&] { pool.run(g); }), -1);
  EXPECT_EQ(ran, 4);
  throws = true;
  EXPECT_EQ(thrown_by([&] { pool.submit(g).get(); }), 7);
}

// Where edges lead from earlier to later nodes: the exception that serial execution would have met first, in each schedule.
TEST(graph_exceptions, are_the_serial_ones) {
  nopal::pool pool{{.workers = 2}};
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random{seed};
    constexpr std::size_t n = 60;
    nopal::graph g;
    std::vector<graph_node> nodes;
    std::vector<std::unique_ptr<std::atomic<bool>>> ran;
    std::vector<std::pair<std::size_t, std::size_t>> edges;
    int first = -1;
    for (std::size_t k = 0; k < n; ++k) {
      std::vector<graph_node> before;
      for (std::size_t e = random() % 3; e > 0 && k > 0; --e) {
        std::size_t const from = random() % k;
        edges.emplace_back(from, k);
        before.push_back(nodes[from]);
      }
      bool const throws = random() % 20 == 0;
      if (throws && first < 0) first = static_cast<int>(k);
      bool const yields = random() % 4 == 0;
      ran.push_back(std::make_unique<std::atomic<bool>>(false));
      nodes.push_back(g.node(
          [&ran, k, throws, yields] {
            if (yields) nopal::yield();
            if (throws) throw static_cast<int>(k);
            *ran[k] = true;
          },
          after(before)));
    }
    for (int round = 0; round < 5; ++round) {
      for (auto& r : ran) *r = false;
      ASSERT_EQ(thrown_by([&] { pool.run(g); }), first);
      for (auto const& [from, to] : edges) ASSERT_TRUE(*ran[from] || !*ran[to]);
      for (std::size_t k = 0; first >= 0 && k < static_cast<std::size_t>(first); ++k) ASSERT_TRUE(*ran[k]);
    }
  }
}

TEST(graph_exceptions, in_a_loop_and_in_a_branch) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph g;
  int n = 0;
  int done = 0;
  int limit = 5;
  auto const begin = g.node([&] { n = 0; });
  auto const body = g.node(
      [&] {
        if (++n == limit) throw n;
      },
      after(begin));
  auto const end = g.node([&] { ++done; });
  g.branch([&] { return n == 10 ? 1 : 0; }, {body, end}, after(body));
  EXPECT_EQ(thrown_by([&] { pool.run(g); }), 5);
  limit = 50;
  EXPECT_EQ(thrown_by([&] { pool.run(g); }), -1);
  EXPECT_EQ(done, 1);

  nopal::graph h;
  auto const target = h.node([&] { ++done; });
  h.branch([&]() -> int { throw 3; }, {target});
  EXPECT_EQ(thrown_by([&] { h.run(); }), 3);
  EXPECT_EQ(done, 1);
}

TEST(graph_exceptions, leave_an_inner_graph) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph inner;
  inner.node([] { throw 4; });
  nopal::graph g;
  std::atomic<bool> ran{false};
  auto const module = g.node(inner);
  g.node([&] { ran = true; }, after(module));
  EXPECT_EQ(thrown_by([&] { pool.run(g); }), 4);
  EXPECT_FALSE(ran);
}

TEST(graph_stop, no_node_begins_after_a_request) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph g;
  std::stop_source stop;
  std::atomic<int> ran{0};
  auto const a = g.node([&] { ++ran; });
  auto const b = g.node(
      [&] {
        ++ran;
        stop.request_stop();
      },
      after(a));
  g.node([&] { ++ran; }, after(b));
  EXPECT_THROW(pool.submit(stop.get_token(), g).get(), nopal::stopped);
  EXPECT_EQ(ran, 2);
  EXPECT_THROW(nopal::with_stop(stop.get_token(), [&] { g.run(); }), nopal::stopped);
  EXPECT_EQ(ran, 2);
  stop = {};
  pool.submit(stop.get_token(), [&] { nopal::without_stop([&] { g.run(); }); }).get();
  EXPECT_EQ(ran, 5);
  pool.run(g);
  EXPECT_EQ(ran, 8);
}

TEST(graph_stop, ends_the_wait_of_a_node_and_a_loop) {
  nopal::pool pool{{.workers = 2}};
  nopal::counter never{1};
  nopal::graph waits;
  waits.node([&] { nopal::wait_for(never); });
  EXPECT_THROW(nopal::with_time_limit(2ms, [&] { waits.run(); }), nopal::stopped);
  nopal::graph loop;
  auto const begin = loop.node([] {});
  auto const body = loop.node([] {}, after(begin));
  loop.branch([] { return 0; }, {body}, after(body));
  EXPECT_THROW(nopal::with_time_limit(2ms, [&] { pool.run(loop); }), nopal::stopped);
  never.done();
}

TEST(graph_stop, an_exception_counts_more) {
  nopal::pool pool{{.workers = 1}};
  nopal::graph g;
  std::stop_source stop;
  g.node([&] {
    stop.request_stop();
    nopal::stop_point();
  });
  g.node([] {});
  EXPECT_THROW(pool.submit(stop.get_token(), g).get(), nopal::stopped);
  stop = {};
  nopal::graph h;
  h.node([&] {
    stop.request_stop();
    throw 5;
  });
  h.node([] {});
  EXPECT_EQ(thrown_by([&] { pool.submit(stop.get_token(), h).get(); }), 5);
}

// A node's own `stopped`, which nobody has asked for, is no less.
TEST(graph_stop, thrown_by_a_node_itself) {
  nopal::pool pool{{.workers = 1}};
  nopal::graph g;
  bool ran = false;
  auto const a = g.node([] { throw nopal::stopped{}; });
  g.node([&] { ran = true; }, after(a));
  EXPECT_THROW(pool.run(g), nopal::stopped);
  EXPECT_FALSE(ran);
}

}  // namespace

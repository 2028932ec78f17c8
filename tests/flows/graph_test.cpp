// graph: nodes run in the order of their edges, from everywhere and often.

#include "nopal/graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "nopal/channel.hpp"
#include "nopal/fiber.hpp"
#include "nopal/mutex.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"
#include "nopal/stay.hpp"
#include "nopal/task.hpp"

namespace {

using namespace std::chrono_literals;
using nopal::after;
using nopal::graph_node;
using nopal::name;

/// A graph whose nodes note when they ran; checks that they ran in the order of the edges, each once.
class ordered {
 public:
  graph_node add(std::vector<std::size_t> const& before) {
    std::size_t const k = when.size();
    when.push_back(std::make_unique<std::atomic<int>>(0));
    for (std::size_t const b : before) edges.emplace_back(b, k);
    std::vector<graph_node> from;
    for (std::size_t const b : before) from.push_back(nodes[b]);
    nodes.push_back(g.node([this, k] { *when[k] = ++clock; }, after(from)));
    return nodes.back();
  }
  void clear() {
    clock = 0;
    for (auto& w : when) *w = 0;
  }
  void check() const {
    ASSERT_EQ(clock, static_cast<int>(when.size()));
    for (auto const& w : when) ASSERT_GT(*w, 0);
    for (auto const& [a, b] : edges) ASSERT_LT(*when[a], *when[b]);
  }

  nopal::graph g;
  std::vector<graph_node> nodes;

 private:
  std::vector<std::unique_ptr<std::atomic<int>>> when;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  std::atomic<int> clock{0};
};

void add_random(ordered& o, std::size_t n, unsigned seed) {
  std::mt19937 random{seed};
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<std::size_t> before;
    for (std::size_t e = random() % 4; e > 0 && k > 0; --e) before.push_back(random() % k);
    o.add(before);
  }
}

TEST(graph, runs_in_the_order_of_its_edges) {
  nopal::pool pool{{.workers = 2}};
  for (unsigned seed = 0; seed < 20; ++seed) {
    ordered o;
    add_random(o, 200, seed);
    for (int round = 0; round < 5; ++round) {
      o.clear();
      pool.run([&] { o.g.run(); });
      o.check();
    }
  }
}

TEST(graph, is_run_from_everywhere) {
  nopal::pool pool{{.workers = 2}};
  ordered o;
  add_random(o, 100, 1);
  auto const run = [&] {
    o.clear();
    o.g.run();
    o.check();
  };
  run();  // off a pool
  pool.run(run);
  nopal::counter c;
  pool.spawn(c, run);
  nopal::wait_for(c);
  pool.run([&]() -> nopal::task<> {
    run();
    co_return;
  });
  pool.run([&] { nopal::parallel_invoke([] {}, run, [] {}); });
  pool.run([&] {
    nopal::stay const here;
    run();
  });
  nopal::pool home{{.workers = 2, .resume = nopal::resume::home}};
  home.run(run);
  nopal::pool alone{{.workers = 1}};
  alone.run(run);
  nopal::pool unstolen{{.workers = 2, .experimental = {.steal = false}}};
  unstolen.run(run);
  o.clear();
  pool.run(o.g);
  o.check();
  o.clear();
  pool.submit(o.g).get();
  o.check();
  o.clear();
  pool.submit(after(), o.g).get();
  o.check();
  o.clear();
  pool.submit(std::stop_token{}, o.g).get();
  o.check();
}

TEST(graph, without_edges_and_of_one_node) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph one;
  int n = 0;
  one.node([&] { ++n; });
  pool.run(one);
  one.run();
  EXPECT_EQ(n, 2);
  nopal::graph many;
  std::atomic<int> ran{0};
  for (int k = 0; k < 10'000; ++k) many.node([&] { ++ran; });
  EXPECT_EQ(many.size(), 10'000U);
  pool.run(many);
  pool.run(many);
  EXPECT_EQ(ran, 20'000);
}

TEST(graph, edges_by_themselves_and_twice) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph g;
  std::string order;
  auto const c = g.node([&] { order += 'c'; });
  auto const a = g.node([&] { order += 'a'; });
  auto const b = g.node([&] { order += 'b'; }, after(a, a));
  g.edge(b, c);
  g.edge(b, c);
  g.edge(a, c);
  pool.run(g);
  pool.run(g);
  EXPECT_EQ(order, "abcabc");
}

TEST(graph, may_be_added_to_between_runs) {
  nopal::graph g;
  std::atomic<int> ran{0};
  auto last = g.node([&] { ++ran; });
  for (int k = 1; k <= 20; ++k) {
    g.run();
    last = g.node([&] { ++ran; }, after(last));
  }
  EXPECT_EQ(ran, 210);
}

TEST(graph, may_be_moved) {
  nopal::graph g;
  int ran = 0;
  auto const a = g.node([&] { ++ran; });
  nopal::graph h = std::move(g);
  h.node([&] { ran *= 10; }, after(a));
  h.run();
  EXPECT_EQ(ran, 10);
  g = std::move(h);
  g.run();
  EXPECT_EQ(ran, 110);
}

TEST(graph, several_runs_at_once) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph g;
  std::atomic<int> ran{0};
  auto const a = g.node([&] { ++ran; });
  std::vector<graph_node> middle;
  for (int k = 0; k < 8; ++k) middle.push_back(g.node([&] { ++ran; }, after(a)));
  g.node(
      [&] {
        ++ran;
        nopal::yield();
      },
      after(middle));
  std::vector<nopal::future<void>> runs;
  runs.reserve(100);
  for (int k = 0; k < 100; ++k) runs.push_back(pool.submit(g));
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 3; ++k)
      threads.emplace_back([&] {
        for (int r = 0; r < 50; ++r) g.run();
      });
    nopal::counter c;
    for (int k = 0; k < 50; ++k) pool.spawn(c, [&] { g.run(); });
    nopal::wait_for(c);
  }
  for (auto& r : runs) r.get();
  EXPECT_EQ(ran, 10 * (100 + 150 + 50));
}

TEST(graph, nodes_fork_and_run_other_graphs) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph inner;
  std::atomic<int> ran{0};
  auto const x = inner.node([&] { ++ran; });
  inner.node([&] { nopal::parallel_invoke([&] { ++ran; }, [&] { ++ran; }); }, after(x));
  inner.node([&] { ++ran; }, after(x));
  nopal::graph g;
  auto const first = g.node([&] { inner.run(); });
  auto const module = g.node(name{"inner"}, inner, after(first));
  auto const again = g.node(inner, after(first));
  g.node([&] { EXPECT_EQ(ran % 12, 0); }, after(module, again));
  for (int k = 0; k < 50; ++k) pool.run(g);
  EXPECT_EQ(ran, 600);
}

nopal::task<> coroutine_node() { co_return; }

TEST(graph, nodes_that_are_coroutine_functions) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph g;
  std::atomic<int> ran{0};
  auto const child = [](std::atomic<int>& n) -> nopal::task<> {
    ++n;
    co_return;
  };
  auto const a = g.node([&]() -> nopal::task<> {
    co_await nopal::fork(child, ran);
    co_await nopal::fork(child, ran);
    co_await nopal::join;
  });
  g.node(coroutine_node, after(a));
  pool.run(g);
  g.run();
  EXPECT_EQ(ran, 4);
}

// One worker: a node that waits leaves it to the node for which it waits.
TEST(graph, a_node_that_waits_holds_no_worker) {
  nopal::pool pool{{.workers = 1}};
  nopal::channel<int> c{1};
  nopal::graph g;
  int sum = 0;
  g.node([&] {
    for (int k = 0; k < 10; ++k) sum += *c.pop();
  });
  auto const gives = g.node([&] {
    for (int k = 0; k < 10; ++k) c.push(k);
  });
  g.node([&] { nopal::sleep_for(1ms); }, after(gives));
  for (int k = 0; k < 10; ++k) pool.run(g);
  EXPECT_EQ(sum, 450);
}

TEST(graph, nodes_lock_a_mutex) {
  nopal::pool pool{{.workers = 2}};
  nopal::mutex m;
  int n = 0;
  nopal::graph g;
  for (int k = 0; k < 200; ++k)
    g.node([&] {
      std::lock_guard const guard{m};
      ++n;
      if (n % 16 == 0) nopal::yield();
    });
  for (int k = 0; k < 20; ++k) pool.run(g);
  EXPECT_EQ(n, 4000);
}

// ---- Branches.

TEST(graph, a_branch_chooses_what_follows) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph g;
  std::string ran;
  int choice = 0;
  auto const first = g.node([&] { ran += 'f'; });
  auto const left = g.node([&] { ran += 'l'; });
  auto const right = g.node([&] { ran += 'r'; });
  g.node([&] { ran += 'a'; }, after(left));
  g.branch(name{"which"}, [&] { return choice; }, {left, right}, after(first));
  for (choice = -1; choice <= 2; ++choice) pool.run(g);
  EXPECT_EQ(ran, "fflafrf");
}

TEST(graph, a_branch_makes_a_loop) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph g;
  int n = 0;
  int ended = 0;
  auto const begin = g.node([&] { n = 0; });
  auto const body = g.node([&] { ++n; }, after(begin));
  auto const done = g.node([&] { ++ended; });
  auto const again = g.branch([&] { return n == 100'000; }, {body}, after(body));
  g.edge(again, done);
  for (int k = 1; k <= 3; ++k) {
    pool.run(g);
    EXPECT_EQ(n, 100'000);
    EXPECT_EQ(ended, k);
  }
  nopal::graph self;  // and one that leads to itself
  int m = 0;
  auto const start = self.node([&] { m = 0; });
  auto const b = self.branch([&] { return ++m < 10 ? 0 : 1; }, {}, after(start));
  self.edge(b, b);
  pool.run(self);
  EXPECT_EQ(m, 10);
}

TEST(graph, a_loop_over_nodes_that_run_in_parallel) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph g;
  std::atomic<int> ran{0};
  int rounds = 0;
  auto const begin = g.node([&] { rounds = 0; });
  auto const fork = g.node([] {}, after(begin));
  std::vector<graph_node> all;
  for (int k = 0; k < 5; ++k) all.push_back(g.node([&] { ++ran; }, after(fork)));
  auto const meet = g.node([&] { ++rounds; }, after(all));
  g.branch([&] { return rounds < 100 ? 0 : 1; }, {fork}, after(meet));
  pool.run(g);
  pool.run(g);
  EXPECT_EQ(ran, 1000);
}

// A node that waits for two, of which a run begins one: the next run counts anew.
TEST(graph, a_branch_that_leaves_a_count_behind) {
  nopal::pool pool{{.workers = 1}};
  nopal::graph g;
  int ran = 0;
  bool take = false;
  auto const a = g.node([] {});
  auto const x = g.node([] {});
  g.node([&] { ++ran; }, after(a, x));
  g.branch([&] { return take ? 0 : 1; }, {x}, after(a));
  pool.run(g);
  pool.run(g);
  EXPECT_EQ(ran, 0);
  take = true;
  pool.run(g);
  EXPECT_EQ(ran, 1);
}

// ---- Size.

TEST(graph, a_chain_of_100000_and_a_wave) {
  nopal::pool pool{{.workers = 2}};
  nopal::graph chain;
  int n = 0;
  graph_node last = chain.node([&] { ++n; });
  for (int k = 1; k < 100'000; ++k) last = chain.node([&] { ++n; }, after(last));
  pool.run(chain);
  chain.run();
  EXPECT_EQ(n, 200'000);

  constexpr std::size_t side = 100;
  nopal::graph wave;
  std::vector<std::array<long, side>> paths(side);
  std::vector<std::vector<graph_node>> at(side, std::vector<graph_node>(side));
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) {
      at[i][j] = wave.node([&paths, i, j] {
        long const up = i > 0 ? paths[i - 1][j] : 0;
        long const left = j > 0 ? paths[i][j - 1] : 0;
        paths[i][j] = i + j == 0 ? 1 : (up + left) % 1'000'003;
      });
      if (i > 0) wave.edge(at[i - 1][j], at[i][j]);
      if (j > 0) wave.edge(at[i][j - 1], at[i][j]);
    }
  pool.run(wave);
  auto const expected = paths[side - 1][side - 1];
  std::vector<std::array<long, side>> serial(side);
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j)
      serial[i][j] = i + j == 0 ? 1 : ((i > 0 ? serial[i - 1][j] : 0) + (j > 0 ? serial[i][j - 1] : 0)) % 1'000'003;
  EXPECT_EQ(expected, serial[side - 1][side - 1]);
}

// A worker keeps rows that have ended for the nodes that it makes ready later. Some nodes wait meanwhile, and go on at another worker, and
// some are left out.
TEST(graph, ends_when_the_last_node_of_a_tree_has_ended) {
  for (unsigned const workers : {1u, 2u, 3u}) {
    nopal::pool pool{{.workers = workers}};
    constexpr std::size_t nodes = 511;
    std::atomic<std::size_t> ran{0}, ended{0};
    std::atomic<bool> fails{false};
    nopal::graph g;
    std::vector<graph_node> all;
    for (std::size_t k = 0; k < nodes; ++k) {
      auto const body = [&, k] {
        ++ran;
        if (k % 7 == 3) nopal::yield();
        if (k == 5 && fails) throw std::runtime_error{"5"};
        ++ended;
      };
      all.push_back(k == 0 ? g.node(body) : g.node(body, after(all[(k - 1) / 2])));
    }
    long const times = test::scaled(100);
    for (long k = 0; k < times; ++k) {
      pool.run(g);
      ASSERT_EQ(ended.exchange(0), nodes);
    }
    nopal::counter both;
    for (int k = 0; k < 2; ++k) {
      pool.spawn(both, [&] {
        for (long again = 0; again < times; ++again) g.run();
      });
    }
    nopal::wait_for(both);
    EXPECT_EQ(ended.exchange(0), 2 * static_cast<std::size_t>(times) * nodes);
    fails = true;
    ran = 0;
    for (long k = 0; k < times; ++k) {
      EXPECT_THROW(pool.run(g), std::runtime_error);
      ASSERT_EQ(ended.exchange(0) + 1, ran.exchange(0)) << "all that began have ended";
    }
  }
}

TEST(graph, lets_others_run_meanwhile) {
  nopal::pool pool{{.workers = 1}};
  nopal::graph g;
  std::atomic<bool> ended{false};
  auto const begin = g.node([] {});
  auto const body = g.node([] {}, after(begin));
  g.branch([&] { return ended ? 1 : 0; }, {body}, after(body));
  auto run = pool.submit(g);  // which would never end
  nopal::counter c;
  pool.spawn(c, [&] {
    nopal::sleep_for(1ms);
    ended = true;
  });
  nopal::wait_for(c);
  run.get();
}

// ---- What is wrong is said.

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (std::invalid_argument const& e) {
    return e.what();
  }
  return "nothing was thrown";
}
bool has(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

TEST(graph, that_is_empty_or_was_moved_from) {
  nopal::graph g;
  EXPECT_TRUE(has(message([&] { g.run(); }), "a graph without nodes was run"));
  nopal::graph const h = std::move(g);
  EXPECT_TRUE(has(message([&] { g.run(); }), "run of a graph that was moved from"));  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(has(message([&] { g.node([] {}); }), "graph::node of a graph that was moved from"));
  EXPECT_TRUE(has(message([&] { static_cast<void>(to_dot(g)); }), "to_dot of a graph that was moved from"));
  EXPECT_EQ(g.size(), 0U);
  nopal::pool pool{{.workers = 1}};
  EXPECT_TRUE(has(message([&] { pool.submit(g).get(); }), "moved from"));
}

TEST(graph, with_a_cycle_names_it) {
  nopal::graph g;
  bool ran = false;
  auto const first = g.node(name{"first"}, [&] { ran = true; });
  auto const a = g.node(name{"a"}, [] {}, after(first));
  auto const b = g.node(name{"b"}, [] {}, after(a));
  auto const c = g.node([] {}, after(b));
  g.node(name{"last"}, [] {}, after(c));
  g.edge(c, a);
  EXPECT_TRUE(has(message([&] { g.run(); }), "a cycle, whose nodes wait for each other: "));
  std::string const names = message([&] { g.run(); });
  EXPECT_TRUE(has(names, "a -> b -> node 3 -> a.") || has(names, "b -> node 3 -> a -> b.") || has(names, "node 3 -> a -> b -> node 3."))
      << names;
  EXPECT_FALSE(ran);
}

TEST(graph, in_which_nothing_can_begin) {
  nopal::graph g;
  auto const a = g.node([] {});
  g.branch([] { return 0; }, {a}, after(a));
  EXPECT_TRUE(has(message([&] { g.run(); }), "no node of a graph can begin"));
}

TEST(graph, edges_that_cannot_be) {
  nopal::graph g;
  nopal::graph other;
  auto const a = g.node(name{"alone"}, [] {});
  auto const b = other.node([] {});
  EXPECT_TRUE(has(message([&] { g.edge(a, a); }), "from a node to itself, alone"));
  EXPECT_TRUE(has(message([&] { g.edge(a, b); }), "a node that this graph does not have"));
  EXPECT_TRUE(has(message([&] { g.edge(b, a); }), "a node that this graph does not have"));
  EXPECT_TRUE(has(message([&] { g.edge({}, a); }), "a node that this graph does not have"));
  EXPECT_TRUE(has(message([&] { g.node([] {}, after(a, b)); }), "a node that this graph does not have"));
  EXPECT_TRUE(has(message([&] { g.branch([] { return 0; }, {b}); }), "a node that this graph does not have"));
  EXPECT_EQ(g.size(), 1U);
  g.run();
}

TEST(graph, that_is_a_node_of_itself) {
  nopal::graph a;
  nopal::graph b;
  nopal::graph c;
  b.node(c);
  a.node(b);
  EXPECT_TRUE(has(message([&] { a.node(a); }), "a graph is to be a node of itself"));
  EXPECT_TRUE(has(message([&] { c.node(a); }), "a graph is to be a node of itself"));
}

TEST(graph, that_runs_is_not_changed) {
  nopal::graph g;
  bool threw = false;
  auto const a = g.node([&] {
    try {
      g.node([] {});
    } catch (std::logic_error const&) {
      threw = true;
    }
  });
  g.run();
  EXPECT_TRUE(threw);
  g.node([] {}, after(a));
  g.run();
}

TEST(graph, is_drawn) {
  nopal::graph inner;
  nopal::graph g;
  auto const a = g.node(name{"say \"a\""}, [] {});
  auto const b = g.node([] {}, after(a));
  g.branch(name{"again?"}, [] { return 1; }, {a, b}, after(b));
  g.node(name{"inner"}, inner, after(b));
  EXPECT_EQ(to_dot(g),
            "digraph {\n"
            "  n0 [label=\"say \\\"a\\\"\"];\n"
            "  n1 [label=\"node 1\"];\n"
            "  n2 [label=\"again?\", shape=diamond];\n"
            "  n3 [label=\"inner\", shape=box3d];\n"
            "  n0 -> n1;\n"
            "  n1 -> n2;\n"
            "  n1 -> n3;\n"
            "  n2 -> n0 [style=dashed, label=\"0\"];\n"
            "  n2 -> n1 [style=dashed, label=\"1\"];\n"
            "}\n");
}

TEST(graph_death, destroyed_while_it_runs) {
  GTEST_FLAG_SET(death_test_style, test::death_test_style());
  EXPECT_DEATH(
      {
        nopal::pool pool{{.workers = 2}};
        nopal::counter gate{1};
        auto g = std::make_unique<nopal::graph>();
        std::atomic<bool> begun{false};
        g->node([&] {
          begun = true;
          nopal::wait_for(gate);
        });
        auto f = pool.submit(*g);
        while (!begun) std::this_thread::yield();
        g.reset();
      },
      "a graph was destroyed while it runs");
}

}  // namespace

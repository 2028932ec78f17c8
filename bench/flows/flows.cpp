// Graphs and pipelines as Taskflow's own benchmarks have them (taskflow/taskflow, benchmarks/): a chain, a binary tree, a wavefront, a graph of
// random edges, and pipelines, each written as a user of that library would. One program for each library: NOPAL_BENCH_TASKFLOW,
// NOPAL_BENCH_TBB, or nopal. A line for each problem: the median time, what a node or an item takes, and the peak memory of the process. By
// hand: ../README.md.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#if NOPAL_BENCH_TASKFLOW
#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/taskflow.hpp>
#elif NOPAL_BENCH_TBB
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#else
#include <nopal/nopal.hpp>
#endif

#include "../process.hpp"

namespace {

using clock = std::chrono::steady_clock;

int spin_ns = 0;
/// The work of a node that has some, and of a stage.
void spin() {
  if (spin_ns == 0) return;
  for (const auto end = clock::now() + std::chrono::nanoseconds{spin_ns}; clock::now() < end;) {
  }
}

/// Nodes by number, and which follow each.
struct problem {
  std::size_t nodes = 0;
  std::vector<std::vector<std::uint32_t>> next;
};

problem chain(std::size_t n) {
  problem p{n, std::vector<std::vector<std::uint32_t>>(n)};
  for (std::size_t k = 0; k + 1 < n; ++k) p.next[k] = {static_cast<std::uint32_t>(k + 1)};
  return p;
}
problem tree(std::size_t n) {
  problem p{n, std::vector<std::vector<std::uint32_t>>(n)};
  for (std::size_t k = 0; 2 * k + 2 < n; ++k) p.next[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(2 * k + 2)};
  return p;
}
problem wavefront(std::size_t n) {
  std::size_t side = 1;
  while ((side + 1) * (side + 1) <= n) ++side;
  problem p{side * side, std::vector<std::vector<std::uint32_t>>(side * side)};
  for (std::size_t r = 0; r < side; ++r) {
    for (std::size_t c = 0; c < side; ++c) {
      auto& next = p.next[r * side + c];
      if (r + 1 < side) next.push_back(static_cast<std::uint32_t>((r + 1) * side + c));
      if (c + 1 < side) next.push_back(static_cast<std::uint32_t>(r * side + c + 1));
    }
  }
  return p;
}
/// Levels of 100 nodes, each with up to four edges into the next level.
problem random_graph(std::size_t n) {
  problem p{n, std::vector<std::vector<std::uint32_t>>(n)};
  std::mt19937 random{1};
  constexpr std::size_t level = 100;
  for (std::size_t k = 0; k + level < n; ++k) {
    const std::size_t first = (k / level + 1) * level;
    for (auto e = random() % 5; e > 0; --e) {
      const auto to = static_cast<std::uint32_t>(std::min<std::size_t>(first + random() % level, n - 1));
      if (std::ranges::find(p.next[k], to) == p.next[k].end()) p.next[k].push_back(to);
    }
  }
  return p;
}

std::atomic<std::size_t> ran{0};
void node() {
  spin();
  ran.fetch_add(1, std::memory_order_relaxed);
}

#if NOPAL_BENCH_TASKFLOW

constexpr const char* library = "taskflow";
struct runtime {
  explicit runtime(unsigned workers) : executor{workers} {}
  tf::Executor executor;
};
struct graph {
  explicit graph(const problem& p) {
    std::vector<tf::Task> tasks;
    for (std::size_t k = 0; k < p.nodes; ++k) tasks.push_back(flow.emplace(node));
    for (std::size_t k = 0; k < p.nodes; ++k) {
      for (const std::uint32_t to : p.next[k]) tasks[k].precede(tasks[to]);
    }
  }
  void run(runtime& r) { r.executor.run(flow).wait(); }
  tf::Taskflow flow;
};
/// Four stages; the middle two take several items at once unless `serial`.
void pipeline(runtime& r, std::size_t items, bool serial) {
  constexpr std::size_t lines = 16;
  std::vector<std::size_t> at(lines);
  const auto middle = serial ? tf::PipeType::SERIAL : tf::PipeType::PARALLEL;
  tf::Pipeline all(lines,
                   tf::Pipe{tf::PipeType::SERIAL,
                            [&](tf::Pipeflow& f) {
                              if (f.token() == items) return f.stop();
                              at[f.line()] = f.token();
                            }},
                   tf::Pipe{middle,
                            [&](tf::Pipeflow& f) {
                              spin();
                              ++at[f.line()];
                            }},
                   tf::Pipe{middle,
                            [&](tf::Pipeflow& f) {
                              spin();
                              ++at[f.line()];
                            }},
                   tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow& f) { ran.fetch_add(at[f.line()] != 0, std::memory_order_relaxed); }});
  tf::Taskflow flow;
  flow.composed_of(all);
  r.executor.run(flow).wait();
}

#elif NOPAL_BENCH_TBB

constexpr const char* library = "tbb";
struct runtime {
  explicit runtime(unsigned workers) : limit{tbb::global_control::max_allowed_parallelism, workers}, arena{static_cast<int>(workers)} {}
  tbb::global_control limit;
  tbb::task_arena arena;
};
struct graph {
  using node_type = tbb::flow::continue_node<tbb::flow::continue_msg>;
  explicit graph(const problem& p) {
    std::vector<bool> follows(p.nodes);
    for (std::size_t k = 0; k < p.nodes; ++k) {
      nodes.push_back(std::make_unique<node_type>(all, [](const tbb::flow::continue_msg&) { node(); }));
    }
    for (std::size_t k = 0; k < p.nodes; ++k) {
      for (const std::uint32_t to : p.next[k]) {
        tbb::flow::make_edge(*nodes[k], *nodes[to]);
        follows[to] = true;
      }
    }
    for (std::size_t k = 0; k < p.nodes; ++k) {
      if (!follows[k]) first.push_back(nodes[k].get());
    }
  }
  void run(runtime& r) {
    r.arena.execute([this] {
      for (node_type* n : first) n->try_put(tbb::flow::continue_msg{});
      all.wait_for_all();
    });
  }
  tbb::flow::graph all;
  std::vector<std::unique_ptr<node_type>> nodes;
  std::vector<node_type*> first;
};
void pipeline(runtime& r, std::size_t items, bool serial) {
  const auto middle = serial ? tbb::filter_mode::serial_in_order : tbb::filter_mode::parallel;
  std::size_t next = 0;
  r.arena.execute([&] {
    tbb::parallel_pipeline(16,
                           tbb::make_filter<void, std::size_t>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& f) -> std::size_t {
                             if (next == items) f.stop();
                             return next++;
                           }) & tbb::make_filter<std::size_t, std::size_t>(middle, [](std::size_t x) {
                             spin();
                             return x + 1;
                           }) & tbb::make_filter<std::size_t, std::size_t>(middle, [](std::size_t x) {
                             spin();
                             return x + 1;
                           }) & tbb::make_filter<std::size_t, void>(tbb::filter_mode::serial_in_order, [](std::size_t x) {
                             ran.fetch_add(x != 0, std::memory_order_relaxed);
                           }));
  });
}

#else

constexpr const char* library = "nopal";
struct runtime {
  explicit runtime(unsigned workers) : pool{{.workers = workers}} {}
  nopal::pool pool;
};
struct graph {
  explicit graph(const problem& p) {
    std::vector<nopal::graph_node> nodes;
    for (std::size_t k = 0; k < p.nodes; ++k) nodes.push_back(all.node(node));
    for (std::size_t k = 0; k < p.nodes; ++k) {
      for (const std::uint32_t to : p.next[k]) all.edge(nodes[k], nodes[to]);
    }
  }
  void run(runtime& r) { r.pool.run(all); }
  nopal::graph all;
};
void pipeline(runtime& r, std::size_t items, bool serial) {
  std::size_t next = 0;
  auto source = [&]() -> std::optional<std::size_t> {
    if (next == items) return std::nullopt;
    return next++;
  };
  const auto step = [](std::size_t x) {
    spin();
    return x + 1;
  };
  const auto sink = [](std::size_t x) { ran.fetch_add(x != 0, std::memory_order_relaxed); };
  r.pool.run([&] {
    if (serial) {
      nopal::pipeline(nopal::tokens{16}, source, nopal::stage::serial_in_order{step}, nopal::stage::serial_in_order{step},
                      nopal::stage::serial_in_order{sink});
    } else {
      nopal::pipeline(nopal::tokens{16}, source, nopal::stage::parallel{step}, nopal::stage::parallel{step},
                      nopal::stage::serial_in_order{sink});
    }
  });
}

#endif

double milliseconds(const std::function<void()>& f) {
  const auto began = clock::now();
  f();
  return std::chrono::duration<double, std::milli>(clock::now() - began).count();
}

/// Prints the median of the times.
void print(const std::string& what, std::vector<double> times, std::size_t n) {
  std::ranges::sort(times);
  const double median = times[times.size() / 2];
  fmt::print("{:<9} {:<34} {:>10.3f} ms {:>9.1f} ns each {:>8} KiB\n", library, what, median, median * 1e6 / static_cast<double>(n),
             bench::peak_rss_kib());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Graphs and pipelines"};
  unsigned workers = 2;
  std::size_t nodes = 65'536;
  int rounds = 11;
  std::string only;
  app.add_option("--workers", workers, "of the pool")->check(CLI::Range(1, 16384));
  app.add_option("--nodes", nodes, "of a graph, and items of a pipeline")->check(CLI::Range(2, 100'000'000));
  app.add_option("--spin", spin_ns, "nanoseconds of work in a node or a stage")->check(CLI::Range(0, 1'000'000'000));
  app.add_option("--rounds", rounds, "so many times each")->check(CLI::Range(1, 10'000));
  app.add_option("--only", only, "chain, tree, wavefront, random, parallel or serial; all of them unless given");
  CLI11_PARSE(app, argc, argv);
  runtime r{workers};

  const auto on_graph = [&](const std::string& name, problem (*make)(std::size_t)) {
    if (!only.empty() && only != name) return;
    const problem p = make(nodes);
    std::vector<double> made;
    std::vector<double> run;
    graph kept{p};
    kept.run(r);
    for (int k = 0; k < rounds; ++k) {
      run.push_back(milliseconds([&] { kept.run(r); }));
      made.push_back(milliseconds([&] { graph{p}.run(r); }));
    }
    if (ran != p.nodes * (2 * static_cast<std::size_t>(rounds) + 1)) fmt::print("wrong: {} nodes have run\n", ran.load());
    ran = 0;
    print(name + ", made and run", made, p.nodes);
    print(name + ", run again", run, p.nodes);
  };
  const auto on_pipeline = [&](const std::string& name, bool serial) {
    if (!only.empty() && only != name) return;
    std::vector<double> run;
    for (int k = 0; k < rounds; ++k) run.push_back(milliseconds([&] { pipeline(r, nodes, serial); }));
    if (ran != nodes * static_cast<std::size_t>(rounds)) fmt::print("wrong: {} items have come out\n", ran.load());
    ran = 0;
    print("pipeline, " + name, run, nodes);
  };
  on_graph("chain", chain);
  on_graph("tree", tree);
  on_graph("wavefront", wavefront);
  on_graph("random", random_graph);
  on_pipeline("parallel", false);
  on_pipeline("serial", true);
}

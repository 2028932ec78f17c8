#pragma once

// What a nopal::graph has: its nodes, and how they run. Called by ../../graph.hpp. Next: node.hpp; src/graph/plan.hpp, what is made of the
// nodes once; src/graph/graph_run.hpp, one run.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/graph/node.hpp"

namespace nopal::inline NOPAL_ABI::core {

class graph_run;
struct plan;

/// One thread at a time changes it, while it does not run. Any number of threads run it.
class NOPAL_API graph_state {
 public:
  graph_state();
  graph_state(graph_state const&) = delete;
  graph_state& operator=(graph_state const&) = delete;
  /// Ends the program with a message if it runs.
  ~graph_state();

  /// Adds a node, and an edge to it from each of `before`. Returns its index. Throws std::logic_error while the graph runs, or if there are
  /// 2^32 - 1 nodes, std::bad_alloc; nothing has happened then.
  std::uint32_t add(std::unique_ptr<any_node> n, std::vector<std::uint32_t> const& before);
  /// Adds an edge. Throws as add; std::invalid_argument for an edge from a node to itself that is no branch.
  void add_edge(std::uint32_t from, std::uint32_t to);
  std::size_t size() const noexcept { return nodes_.size(); }

  /// Runs it, and returns when all nodes that run have ended. Any thread. Throws std::invalid_argument if it is empty, has a cycle or no
  /// node that can begin; std::bad_alloc; then no node has run. Throws what the nodes throw: nopal::graph::run.
  void run();
  /// In the language of Graphviz. Throws std::bad_alloc.
  std::string to_dot() const;
  /// Throws std::invalid_argument if a node of `inner`, or of the graphs that its nodes run, runs this graph.
  void check_inner(graph_state const& inner) const;

 private:
  plan const& planned();
  void run_here(plan const& p);
  graph_run& take_run(plan const& p);
  void put_back(graph_run& r) noexcept;
  void forget_plan() noexcept;
  void check_at_rest(char const* what) const;

  std::vector<std::unique_ptr<any_node>> nodes_;
  std::atomic<std::size_t> runs_{0};  // that have begun and not ended
  // Made by the first run after a change.
  own_mutex plan_mutex_;
  std::atomic<plan*> plan_{nullptr};
  /// States of runs that have ended, for others.
  std::array<std::atomic<graph_run*>, 16> spare_{};
};

/// Throws std::invalid_argument: `what` was called on a graph that was moved from, or with a node of no graph, or of another one.
[[noreturn]] NOPAL_API NOPAL_COLD void throw_moved_from(char const* what);
[[noreturn]] NOPAL_API NOPAL_COLD void throw_foreign_node(char const* what);

}  // namespace nopal::core

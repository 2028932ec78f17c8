#pragma once

// A node of a graph: what it calls, and what follows it. Made by ../../graph.hpp. Next: graph_state.hpp, which has the nodes.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

class graph_state;

/// Written before any run. In a run its function may be called by several threads at once, if several runs are.
class any_node {
 public:
  any_node() = default;
  any_node(any_node const&) = delete;
  any_node& operator=(any_node const&) = delete;
  virtual ~any_node() = default;
  /// Calls the program's function. Of a branch: returns which of `next` follows; any other number: none.
  virtual std::int64_t call() = 0;

  std::string name;                 ///< or empty
  bool chooses = false;             ///< a branch: one of `next` follows, at once
  graph_state* inner = nullptr;     ///< the graph that it runs, or null
  std::vector<std::uint32_t> next;  ///< indices of the nodes to which its edges lead, in the order of the edges
};

/// A node that calls an F, and drops what that returns.
template <class F>
class node_of final : public any_node {
 public:
  template <class G>
  explicit node_of(G&& g) : f_(static_cast<G&&>(g)) {}
  std::int64_t call() override {
    static_cast<void>(f_());
    return 0;
  }

 private:
  F f_;
};
/// A branch that calls an F.
template <class F>
class branching_node_of final : public any_node {
 public:
  template <class G>
  explicit branching_node_of(G&& g) : f_(static_cast<G&&>(g)) {
    chooses = true;
  }
  std::int64_t call() override { return static_cast<std::int64_t>(f_()); }

 private:
  F f_;
};

}  // namespace nopal::core

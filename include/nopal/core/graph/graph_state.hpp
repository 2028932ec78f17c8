#pragma once

// A node of a graph: what it calls, and what follows it. Made by ../../graph.hpp. Below: what has the nodes.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

class graph_state;

/// Indices of nodes, in the order in which they were added. Two need no memory of their own: most nodes have no more edges.
class node_indices {
 public:
  node_indices() noexcept = default;
  node_indices(node_indices const&) = delete;
  node_indices& operator=(node_indices const&) = delete;
  ~node_indices() {
    if (room_ != inside) delete[] there_;
  }
  std::size_t size() const noexcept { return size_; }
  std::uint32_t const* begin() const noexcept { return room_ == inside ? here_ : there_; }
  std::uint32_t const* end() const noexcept { return begin() + size_; }
  std::uint32_t operator[](std::size_t n) const noexcept { return begin()[n]; }

  /// So that `n` can be added. Throws std::bad_alloc; nothing has happened then.
  void make_room(std::size_t n) {
    if (room_ - size_ < n) grow(n);
  }
  /// Throws std::bad_alloc; nothing has happened then.
  void push_back(std::uint32_t index) {
    make_room(1);
    (room_ == inside ? here_ : there_)[size_++] = index;
  }

 private:
  static constexpr std::uint32_t inside = 2;

  NOPAL_COLD void grow(std::size_t n) {
    constexpr std::size_t most = 0xffff'ffff;
    if (n > most - size_) throw std::bad_array_new_length{};
    std::size_t const room = std::min(most, 2 * std::size_t{room_} + n);
    auto* const all = new std::uint32_t[room];
    std::copy(begin(), end(), all);
    if (room_ != inside) delete[] there_;
    there_ = all;
    room_ = static_cast<std::uint32_t>(room);
  }

  std::uint32_t size_ = 0;
  std::uint32_t room_ = inside;
  union {
    std::uint32_t here_[inside];
    std::uint32_t* there_;
  };
};

/// Written before any run. In a run its function may be called by several threads at once, if several runs are.
class any_node {
 public:
  any_node() = default;
  any_node(any_node const&) = delete;
  any_node& operator=(any_node const&) = delete;
  virtual ~any_node() = default;
  /// Calls the program's function. Of a branch: returns which of `next` follows; any other number: none.
  virtual std::int64_t call() = 0;

  std::unique_ptr<std::string const> name;  ///< or null
  bool chooses = false;                     ///< a branch: one of `next` follows, at once
  graph_state* inner = nullptr;             ///< the graph that it runs, or null
  node_indices next;                        ///< the nodes to which its edges lead, in the order of the edges
};

/// A node that calls an F, and drops what that returns.
template <class F>
class node_of final : public any_node {
 public:
  template <class G>
  explicit node_of(G&& g)  // NOLINT(bugprone-forwarding-reference-overload): it is not copied
      : f_(static_cast<G&&>(g)) {}
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
  explicit branching_node_of(G&& g)  // NOLINT(bugprone-forwarding-reference-overload)
      : f_(static_cast<G&&>(g)) {
    chooses = true;
  }
  std::int64_t call() override { return static_cast<std::int64_t>(f_()); }

 private:
  F f_;
};

// What a nopal::graph has: its nodes, and how they run. Called by ../../graph.hpp. Next: src/graph/graph_state.cpp, what is made of the
// nodes once, and one run.

class graph_run;
struct plan;

/// One thread at a time changes it, while it does not run. Any number of threads run it.
class NOPAL_API graph_state {
 public:
  graph_state();
  graph_state(graph_state const&) = delete;
  graph_state& operator=(graph_state const&) = delete;
  /// It does not run.
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
  friend struct end_of_graph;

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
  graph_state* next_left_ = nullptr;  // of those that exit has left as they are
};

/// Deletes what a graph has. If that runs, ends the program with a message; or, in exit, leaves it as it is for the workers that run it.
struct NOPAL_API end_of_graph {
  void operator()(graph_state* g) const noexcept;
};

/// Throws std::invalid_argument: `what` was called on a graph that was moved from, or with a node of no graph, or of another one.
[[noreturn]] NOPAL_API NOPAL_COLD void throw_moved_from(char const* what);
[[noreturn]] NOPAL_API NOPAL_COLD void throw_foreign_node(char const* what);

}  // namespace nopal::core

#pragma once

// graph: work as nodes and edges, made once and run often. Next: core/graph/graph_state.hpp, how it runs.

#include "nopal/core/compiler/config.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/after.hpp"
#include "nopal/core/graph/graph_state.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI {

class graph;

/// The name of a node, in messages and in to_dot: g.node(name{"merge"}, f).
struct name {
  std::string text;
};

/// A node of a graph: what graph::node and graph::branch return. It stays valid while the graph, or what that was moved to, lives.
class graph_node {
 public:
  /// No node.
  graph_node() noexcept = default;
  friend bool operator==(graph_node, graph_node) = default;

 private:
  friend class graph;
  graph_node(core::graph_state* of, std::uint32_t index) noexcept : of_{of}, index_{index} {}
  core::graph_state* of_ = nullptr;
  std::uint32_t index_ = 0;
};

/// Nodes that must have ended before another begins: made by after(), for graph::node and graph::branch.
class [[nodiscard]] nodes_before {
 public:
  nodes_before() = default;
  /// Adds a node, or a range of nodes. Throws std::bad_alloc.
  template <class T>
    requires core::is_of_graph<T>
  void add(T&& x) {
    if constexpr (std::same_as<std::remove_cvref_t<T>, graph_node>) {
      all_.push_back(x);
    } else {
      for (graph_node const n : x) all_.push_back(n);
    }
  }

 private:
  friend class graph;
  std::vector<graph_node> all_;
};

/// All of these nodes, and of these ranges of nodes: what begins after them in their graph. Throws std::bad_alloc.
template <class... T>
  requires(sizeof...(T) > 0 && (core::is_of_graph<T> && ...))
nodes_before after(T&&... x) {
  nodes_before n;
  (n.add(static_cast<T&&>(x)), ...);
  return n;
}

/// Nodes and edges: functions, and which must have returned before others begin. It is made once, and run any number of times, by any
/// number of threads at once. A node begins when all nodes before it have ended, on any worker.
///
///     nopal::graph g;
///     auto x = g.node([&] { a = load(0); });
///     auto y = g.node([&] { b = load(1); });
///     g.node(nopal::name{"merge"}, [&] { merge(a, b); }, nopal::after(x, y));
///     g.run();
///
/// A node costs a fork where it does not wait: it takes no stack of its own, and the first of those that a node makes ready is called after
/// it on the same stack. Where it waits, for a lock, a channel, another graph's run, its stack waits, and the worker runs others. The
/// first run, and one at the same time as others, allocates what it needs. Further ones use that, allocate nothing and take no lock.
///
/// By one thread at a time, while it does not run: all but run(), the call operator, and size().
class graph {
 public:
  /// Throws std::bad_alloc.
  graph() : state_{new core::graph_state} {}
  graph(graph&&) noexcept = default;
  graph& operator=(graph&&) noexcept = default;
  /// Ends the program with a message if the graph runs. In exit, where a static graph may run, its nodes stay instead.
  ~graph() = default;

  /// Adds a node that calls f(), and begins once those of `before` have ended. f is moved or copied first. It is an ordinary function, or a
  /// coroutine function, which runs as by sync_wait; or another graph, by reference, which the node runs: it must live whenever this one
  /// runs or becomes a node of a third, and may have other users. What f returns is dropped. f is called in each run, and by several threads
  /// at once if several runs are.
  ///
  /// Throws std::invalid_argument for a node of another graph, for a graph that runs this one, and if this one was moved from;
  /// std::logic_error while it runs; std::bad_alloc, and what keeping f throws; nothing has happened then.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, name>)
  graph_node node(F&& f, nodes_before const& before = {}) {
    return node(name{}, static_cast<F&&>(f), before);
  }
  /// As above, with a name.
  template <class F>
  graph_node node(name n, F&& f, nodes_before const& before = {}) {
    using kept = std::decay_t<F>;
    if constexpr (std::is_same_v<kept, graph>) {
      constexpr bool lives = std::is_same_v<F, graph&>;
      static_assert(lives, "nopal: a graph that is a node is used by reference, so it must have a name: graph inner; g.node(inner).");
      if constexpr (lives) return add_inner(std::move(n), f, before);
      return {};
    } else {
      constexpr bool callable = std::is_invocable_v<kept&>;
      static_assert(callable, "nopal: a node calls its function without arguments, often. Write g.node([=] { f(a, b); }) for f(a, b).");
      constexpr bool copied = std::is_constructible_v<kept, F&&>;
      static_assert(copied, "nopal: a node keeps its function by value, and this one cannot be copied. Write g.node(std::move(f)).");
      if constexpr (!callable || !copied) {
        return {};
      } else if constexpr (core::returns_task<kept&>) {
        return node(std::move(n), waits_for_task<kept>{kept(static_cast<F&&>(f))}, before);
      } else {
        return add(std::move(n), std::make_unique<core::node_of<kept>>(static_cast<F&&>(f)), before);
      }
    }
  }

  /// Adds a node that decides what follows: f() returns a number, and the node of that index among `targets`, with those to which edges lead
  /// from here later, begins at once, whatever it was to wait for; with any other number none does. So a part of a graph is left out, or
  /// runs again. A target that only branches lead to does not begin by itself. Take care that all that a round begins has ended before
  /// the branch begins the next one: let it lead to the branch. Otherwise as node.
  ///
  ///     auto step = g.node([&] { x = improve(x); });
  ///     auto done = g.node([&] { print(x); });
  ///     g.branch([&] { return good(x) ? 1 : 0; }, {step, done}, nopal::after(step));
  ///     g.edge(g.node([] {}), step);      // the run begins here: an edge leads to each of the others
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, name>)
  graph_node branch(F&& f, std::vector<graph_node> const& targets = {}, nodes_before const& before = {}) {
    return branch(name{}, static_cast<F&&>(f), targets, before);
  }
  /// As above, with a name.
  template <class F>
  graph_node branch(name n, F&& f, std::vector<graph_node> const& targets = {}, nodes_before const& before = {}) {
    using kept = std::decay_t<F>;
    constexpr bool callable = std::is_invocable_v<kept&>;
    static_assert(callable, "nopal: a branch calls its function without arguments, often. Write g.branch([=] { return f(a, b); }, ...).");
    constexpr bool copied = std::is_constructible_v<kept, F&&>;
    static_assert(copied, "nopal: a branch keeps its function by value, and this one cannot be copied. Write g.branch(std::move(f), ...).");
    if constexpr (callable && copied) {
      using returned = core::returned_by<kept&>::type;
      constexpr bool number = std::is_integral_v<std::remove_cvref_t<returned>>;
      static_assert(number, "nopal: the function of a branch returns the index of the node that follows, an integer or a bool.");
      if constexpr (number) {
        auto made = std::make_unique<core::branching_node_of<kept>>(static_cast<F&&>(f));
        for (graph_node const t : targets) made->next.push_back(index_of(t, "graph::branch"));
        return add(std::move(n), std::move(made), before);
      }
    }
    return {};
  }

  /// Adds an edge: `to` begins after `from`. From a branch: `to` is its next target. Throws std::invalid_argument for a node of another
  /// graph, for an edge from a node to itself that is no branch, and if the graph was moved from; std::logic_error while it runs;
  /// std::bad_alloc.
  void edge(graph_node from, graph_node to) {
    std::uint32_t const f = index_of(from, "graph::edge");
    state("graph::edge").add_edge(f, index_of(to, "graph::edge"));
  }

  /// Runs the graph once, and returns when all nodes that it began have ended: on the caller's pool, or on default_pool() off a pool; from any
  /// task, fiber, function or thread. The caller runs nodes itself while it has some; then its stack waits, and its worker runs others.
  ///
  /// If nodes throw, rethrows the exception of the node that was made first: so where each node was made after those before it, the
  /// exception that serial execution in that order would have met first. After a failure a node does not begin if it was made later, or if
  /// one before it has failed or did not begin. If the caller is asked to stop (stop.hpp), no further node begins, and it throws
  /// nopal::stopped once all have ended, unless a node has thrown something else.
  ///
  /// Throws std::invalid_argument, and no node has run, if the graph is empty or was moved from; if nodes wait for each other in a cycle, which
  /// the message names; or if an edge leads to every node. Throws std::bad_alloc.
  void run() { state("run").run(); }
  /// As run(): for pool::run, sync_wait, with_stop and the like.
  void operator()() { run(); }

  /// Number of nodes.
  std::size_t size() const noexcept { return state_ != nullptr ? state_->size() : 0; }

 private:
  friend std::string to_dot(graph const& g);

  // Runs a coroutine function as an ordinary one.
  template <class F>
  struct waits_for_task {
    F f;
    void operator()() { static_cast<void>(nopal::sync_wait(f)); }
  };

  core::graph_state& state(char const* what) const {
    if (state_ == nullptr) [[unlikely]]
      core::throw_moved_from(what);
    return *state_;
  }
  std::uint32_t index_of(graph_node n, char const* what) const {
    if (n.of_ != &state(what)) core::throw_foreign_node(what);
    return n.index_;
  }
  graph_node add(name n, std::unique_ptr<core::any_node> made, nodes_before const& before) {
    core::graph_state& s = state("graph::node");
    std::vector<std::uint32_t> from;
    for (graph_node const b : before.all_) from.push_back(index_of(b, "graph::node"));
    if (!n.text.empty()) made->name = std::make_unique<std::string const>(std::move(n.text));
    return {&s, s.add(std::move(made), from)};
  }
  graph_node add_inner(name n, graph& inner, nodes_before const& before) {
    core::graph_state& s = inner.state("graph::node");
    state("graph::node").check_inner(s);
    auto const run = [&s] { s.run(); };
    auto made = std::make_unique<core::node_of<std::remove_const_t<decltype(run)>>>(run);
    made->inner = &s;
    return add(std::move(n), std::move(made), before);
  }

  std::unique_ptr<core::graph_state, core::end_of_graph> state_;
};

/// The graph in the language of Graphviz: `dot -Tsvg` draws it. A branch is a diamond with dashed edges, which bear the indices of their
/// targets; a graph that is a node is a box, and its own nodes are not shown. Throws std::invalid_argument if `g` was moved from;
/// std::bad_alloc.
inline std::string to_dot(graph const& g) { return g.state("to_dot").to_dot(); }

}  // namespace nopal

// Graphs: what is given to nodes, branches and edges.
#include <memory>
#include <nopal/nopal.hpp>
#include <string>
#include <utility>

int f(int n);

// case: node_with_parameters
// expect: nopal: a node calls its function without arguments, often.
void root(nopal::graph& g) { g.node(f); }

// case: node_that_is_called_once
// expect: nopal: a node calls its function without arguments, often.
struct once {
  void operator()() &&;
};
void root(nopal::graph& g) { g.node(once{}); }

// case: node_that_cannot_be_copied
// expect: nopal: a node keeps its function by value, and this one cannot be copied.
void root(nopal::graph& g) {
  auto const closure = [p = std::unique_ptr<int>{}] {};
  g.node(closure);
}

// case: node_of_a_temporary_graph
// expect: nopal: a graph that is a node is used by reference, so it must have a name
void root(nopal::graph& g) { g.node(nopal::graph{}); }

// case: branch_with_parameters
// expect: nopal: a branch calls its function without arguments, often.
void root(nopal::graph& g, nopal::graph_node x) { g.branch(f, {x}); }

// case: branch_that_returns_nothing
// expect: nopal: the function of a branch returns the index of the node that follows, an integer or a bool.
void root(nopal::graph& g, nopal::graph_node x) {
  g.branch([] {}, {x});
}

// case: branch_that_returns_a_node
// expect: nopal: the function of a branch returns the index of the node that follows, an integer or a bool.
void root(nopal::graph& g, nopal::graph_node x) {
  g.branch([x] { return x; }, {x});
}

// case: copied_graph
// expect Clang: call to implicitly-deleted copy constructor of 'nopal::graph'
// expect GNU: use of deleted function
nopal::graph root(nopal::graph& g) { return g; }

// case: submitted_constant_graph
// expect: nopal::pool::submit and detach: the job keeps its closure by value, and this one cannot be copied.
void root(nopal::pool& pool, nopal::graph const& g) { auto later = pool.submit(g); }

// case: what_is_a_graph
void root(nopal::pool& pool) {
  nopal::graph inner;
  inner.node([] {});
  nopal::graph g;
  auto const x = g.node([p = std::make_unique<int>(1)] { ++*p; });
  auto const y = g.node(nopal::name{"y"}, inner, nopal::after(x));
  auto const z = g.branch([]() mutable { return true; }, {x, y}, nopal::after(y));
  g.edge(z, z);
  g.edge(x, g.node([]() -> nopal::task<int> { co_return 1; }));
  pool.submit(g).get();
  pool.run(g);
  nopal::sync_wait(g);
  pool.submit(nopal::after(), g).get();
  auto kept = pool.submit(std::move(g));
}

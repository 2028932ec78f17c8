#include "nopal/core/graph/graph_state.hpp"

#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include "graph/graph_run.hpp"
#include "graph/node_name.hpp"
#include "graph/plan.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/external_caller.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::core {

graph_state::graph_state() = default;

graph_state::~graph_state() {
  if (runs_.load(std::memory_order_acquire) != 0) {  // acquire: pairs with the end of a run, for its state
    die_unless_in_exit("a graph was destroyed while it runs; let it outlive graph::run, or the future of pool::submit");
    static_cast<void>(new (std::nothrow) auto(std::move(nodes_)));  // the process ends, while workers still call them
    return;
  }
  forget_plan();
}

void graph_state::forget_plan() noexcept {
  if (plan_.load(std::memory_order_relaxed) == nullptr) return;                  // relaxed: it does not run, and one thread changes it
  for (auto& s : spare_) delete s.exchange(nullptr, std::memory_order_relaxed);  // relaxed: it does not run, and one thread changes it
  delete plan_.exchange(nullptr, std::memory_order_relaxed);                     // relaxed: as above
}

void graph_state::check_at_rest(char const* what) const {
  if (runs_.load(std::memory_order_acquire) == 0) return;  // acquire: pairs with the end of a run
  throw std::logic_error{std::string{"nopal: "} + what +
                         " on a graph that runs. Wait for graph::run, or for the future of pool::submit, before you change it"};
}

std::uint32_t graph_state::add(std::unique_ptr<any_node> n, std::vector<std::uint32_t> const& before) {
  check_at_rest("graph::node");
  if (nodes_.size() >= 0xffff'ffff) throw std::logic_error{"nopal: a graph has 2^32 - 1 nodes at most"};
  for (std::uint32_t const from : before) nodes_[from]->next.make_room(before.size());
  nodes_.push_back(std::move(n));
  auto const k = static_cast<std::uint32_t>(nodes_.size() - 1);
  for (std::uint32_t const from : before) nodes_[from]->next.push_back(k);
  forget_plan();
  return k;
}

void graph_state::add_edge(std::uint32_t from, std::uint32_t to) {
  check_at_rest("graph::edge");
  if (from == to && !nodes_[from]->chooses) {
    throw std::invalid_argument{"nopal: graph::edge from a node to itself, " + name_of(nodes_, from) +
                                ", which would wait for itself; only a branch may lead to itself, and then runs again"};
  }
  nodes_[from]->next.push_back(to);
  forget_plan();
}

void graph_state::check_inner(graph_state const& inner) const {
  if (&inner == this) {
    throw std::invalid_argument{
        "nopal: a graph is to be a node of itself, and its run would never end; make another graph, or a loop by graph::branch"};
  }
  for (auto const& n : inner.nodes_) {
    if (n->inner != nullptr) check_inner(*n->inner);
  }
}

plan const& graph_state::planned() {
  plan const* known = plan_.load(std::memory_order_acquire);  // acquire: pairs with the store below
  if (known != nullptr) return *known;
  std::lock_guard const guard{plan_mutex_};
  known = plan_.load(std::memory_order_relaxed);  // relaxed: under the lock
  if (known != nullptr) return *known;
  auto made = std::make_unique<plan>(nodes_);
  plan_.store(made.get(), std::memory_order_release);  // release: pairs with the load above
  return *made.release();
}

// One of the states that are free; another where all are in use. Throws std::bad_alloc.
graph_run& graph_state::take_run(plan const& p) {
  for (auto& s : spare_) {
    if (s.load(std::memory_order_relaxed) == nullptr) continue;                                        // relaxed: the exchange decides
    if (graph_run* const r = s.exchange(nullptr, std::memory_order_acquire); r != nullptr) return *r;  // acquire: pairs with put_back
  }
  return *new graph_run{p};
}
void graph_state::put_back(graph_run& r) noexcept {
  for (auto& s : spare_) {
    graph_run* none = nullptr;
    // release: pairs with take_run, for the state. relaxed where it fails: nothing is read
    if (s.compare_exchange_strong(none, &r, std::memory_order_release, std::memory_order_relaxed)) return;
  }
  delete &r;
}

void graph_state::run_here(plan const& p) {
  struct state {
    graph_state& of;
    graph_run& run;
    ~state() { of.put_back(run); }
  } const s{*this, take_run(p)};
  s.run.run();
}

void graph_state::run() {
  struct counted_run {
    std::atomic<std::size_t>& runs;
    explicit counted_run(std::atomic<std::size_t>& r) noexcept : runs{r} {
      runs.fetch_add(1, std::memory_order_relaxed);  // relaxed: who changes the graph knows by other means that no run begins
    }
    counted_run(counted_run const&) = delete;
    ~counted_run() { runs.fetch_sub(1, std::memory_order_release); }  // release: pairs with check_at_rest and the destructor
  } const c{runs_};
  plan const& p = planned();
  if (current_or_null() != nullptr) return run_here(p);
  auto job = [&] { run_here(p); };
  awaited_job<decltype(job)&> r{job};
  r.pool = &default_pool_state();
  run_and_wait(*r.pool, r, r.done);
  r.take();
}

namespace {

void quote(std::string& text, std::string const& name) {
  text += '"';
  for (char const c : name) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  text += '"';
}

}  // namespace

std::string graph_state::to_dot() const {
  std::string text = "digraph {\n";
  for (std::uint32_t k = 0; k < nodes_.size(); ++k) {
    text += "  n" + std::to_string(k) + " [label=";
    quote(text, name_of(nodes_, k));
    if (nodes_[k]->chooses) text += ", shape=diamond";
    if (nodes_[k]->inner != nullptr) text += ", shape=box3d";
    text += "];\n";
  }
  for (std::uint32_t k = 0; k < nodes_.size(); ++k) {
    any_node const& n = *nodes_[k];
    for (std::size_t e = 0; e < n.next.size(); ++e) {
      text += "  n" + std::to_string(k) + " -> n" + std::to_string(n.next[e]);
      if (n.chooses) text += " [style=dashed, label=\"" + std::to_string(e) + "\"]";
      text += ";\n";
    }
  }
  return text + "}\n";
}

void throw_moved_from(char const* what) {
  throw std::invalid_argument{std::string{"nopal: "} + what +
                              " of a graph that was moved from, and has no nodes any more; use the graph that it was moved to"};
}
void throw_foreign_node(char const* what) {
  throw std::invalid_argument{std::string{"nopal: "} + what +
                              " with a node that this graph does not have: one of another graph, or an empty graph_node. Give nodes that "
                              "this graph's own node() and branch() have returned"};
}

}  // namespace nopal::core

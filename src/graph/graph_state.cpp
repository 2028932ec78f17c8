// The plan of a graph: its nodes and edges in a row, as a run needs them. Made once, by the first run after a change. Below: a run of it,
// and what a graph has.

#include "nopal/core/graph/graph_state.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/typed_job.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A node in a plan.
struct planned_node {  // NOLINT(misc-use-internal-linkage): plan has some
  any_node* node;
  std::uint32_t first_next;  ///< of plan::next
  std::uint32_t next_count;
  std::uint32_t before;  ///< how many edges from nodes that are no branches lead here
  bool chooses;
};

struct plan {
  /// Throws std::invalid_argument if a graph of these cannot run, std::bad_alloc.
  explicit plan(std::vector<std::unique_ptr<any_node>> const& all);

  std::vector<planned_node> nodes;
  std::vector<std::uint32_t> next;
  std::vector<std::uint32_t> first;  ///< to which no edge leads
  bool has_branches = false;

  /// Those to which the edges of node `k` lead.
  std::span<std::uint32_t const> after(std::uint32_t k) const noexcept { return {next.data() + nodes[k].first_next, nodes[k].next_count}; }
};

// What a node is called in messages and drawings.

/// The node's own name; or "node 3", if it is the fourth that was made.
static std::string name_of(std::vector<std::unique_ptr<any_node>> const& all, std::uint32_t k) {
  return all[k]->name != nullptr ? *all[k]->name : "node " + std::to_string(k);
}

namespace {

using all_nodes = std::vector<std::unique_ptr<any_node>>;

// `waits`: for each node, how many edges to it are left once all that can run in some order has run. A node that waits has an edge from
// another that does: the way back from node to node comes to one twice.
[[noreturn]] void throw_cycle(plan const& p, all_nodes const& all, std::vector<std::uint32_t> const& waits) {
  std::vector<std::uint32_t> from(all.size());
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    if (waits[k] == 0 || p.nodes[k].chooses) continue;
    for (std::uint32_t const to : p.after(k)) from[to] = k;
  }
  std::vector<bool> seen(all.size());
  auto at = static_cast<std::uint32_t>(std::ranges::find_if(waits, [](std::uint32_t n) { return n != 0; }) - waits.begin());
  for (; !seen[at]; at = from[at]) seen[at] = true;
  std::vector<std::uint32_t> cycle{at};
  for (std::uint32_t k = from[at]; k != at; k = from[k]) cycle.push_back(k);
  std::string names = name_of(all, at);
  for (auto k = cycle.rbegin(); k != cycle.rend(); ++k) names += " -> " + name_of(all, *k);
  throw std::invalid_argument{"nopal: a graph has a cycle, whose nodes wait for each other: " + names +
                              ". Take out one of these edges; a loop needs a branch in it, which chooses whether to go round"};
}

// Throws if some nodes wait for each other.
void check_cycles(plan const& p, all_nodes const& all) {
  std::vector<std::uint32_t> waits;
  std::vector<std::uint32_t> ready;
  waits.reserve(all.size());
  ready.reserve(all.size());
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    waits.push_back(p.nodes[k].before);
    if (waits[k] == 0) ready.push_back(k);
  }
  for (std::size_t k = 0; k < ready.size(); ++k) {
    if (p.nodes[ready[k]].chooses) continue;
    for (std::uint32_t const to : p.after(ready[k])) {
      if (--waits[to] == 0) ready.push_back(to);
    }
  }
  if (ready.size() != all.size()) throw_cycle(p, all, waits);
}

}  // namespace

plan::plan(all_nodes const& all) {
  if (all.empty()) {
    throw std::invalid_argument{"nopal: a graph without nodes was run; add some by graph::node before, or do not run it"};
  }
  nodes.reserve(all.size());
  next.reserve(all.size());
  for (auto const& n : all) {
    nodes.push_back({n.get(), static_cast<std::uint32_t>(next.size()), static_cast<std::uint32_t>(n->next.size()), 0, n->chooses});
    next.insert(next.end(), n->next.begin(), n->next.end());
    has_branches = has_branches || n->chooses;
  }
  if (next.size() > 0xffff'ffff) throw std::invalid_argument{"nopal: a graph has 2^32 - 1 edges at most"};
  std::vector<bool> is_led_to(all.size());
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    for (std::uint32_t const to : after(k)) {
      is_led_to[to] = true;
      if (!nodes[k].chooses) ++nodes[to].before;
    }
  }
  check_cycles(*this, all);
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    if (!is_led_to[k]) first.push_back(k);
  }
  if (first.empty()) {
    throw std::invalid_argument{
        "nopal: no node of a graph can begin, since an edge leads to each; add a node to which none leads, with an edge to where the run "
        "is "
        "to begin"};
  }
}

// One run of a graph: for each node, how many others it still waits for. README.md in core/graph, "A run".

/// The state of one run, used by one after the other.
class graph_run {
 public:
  /// Throws std::bad_alloc.
  explicit graph_run(plan const& p);
  graph_run(graph_run const&) = delete;
  graph_run& operator=(graph_run const&) = delete;

  /// Runs all nodes, and returns when the last has ended. By a worker. Throws what the nodes have thrown.
  void run();

 private:
  struct node : resumable {
    graph_run* of = nullptr;
    std::atomic<std::uint32_t> left{0};    // of those it waits for
    std::atomic<bool> is_left_out{false};  // one of those was left out, or has failed
  };

  static void run_from_ring(resumable& r, worker& w) noexcept;
  node* run_some(node& first, std::size_t& rows) noexcept;
  node* run_one(node& n, std::size_t& rows) noexcept;
  node* release(planned_node const& p, bool leaves_out, std::size_t& rows) noexcept;
  bool end_rows(std::size_t rows) noexcept;
  node* take_own(std::size_t& rows) noexcept;
  static void make_ready(node& n) noexcept;
  void failed(std::uint32_t index, std::exception_ptr e) noexcept;
  void begin(event& done) noexcept;
  bool run_here() noexcept;

  plan const& plan_;
  std::unique_ptr<node[]> nodes_;

  // Of the present run.
  stored_control_words mode_{};
  region_id region_ = no_region;
  fiber_values* values_ = nullptr;
  event* done_ = nullptr;
  std::atomic<std::uint32_t> end_{0};  // nodes from this index on do not begin any more
  // Rows of nodes that have begun, or are about to, and that nobody has said to have ended. All workers write it: so it is on a line of its
  // own, and a worker counts by itself the rows that it has begun and ended meanwhile.
  alignas(tuning::destructive_size) std::atomic<std::size_t> open_{0};
  alignas(tuning::destructive_size) basic_spin_lock<std_sync> lock_;
  // Under the lock.
  std::exception_ptr error_;
  std::uint32_t failed_at_ = 0;  // the node that has thrown it
  bool is_stopped_ = false;
};

static constexpr std::uint32_t no_end = std::numeric_limits<std::uint32_t>::max();

graph_run::graph_run(plan const& p) : plan_{p}, nodes_{std::make_unique<node[]>(p.nodes.size())} {
  for (std::size_t k = 0; k < p.nodes.size(); ++k) {
    node& n = nodes_[k];
    n.run = run_from_ring;
    n.of = this;
    n.left.store(p.nodes[k].before, std::memory_order_relaxed);  // relaxed: no other thread knows it yet
  }
}

// Without branches each node was reached, and is as at the beginning. With some a node may have been left with a part of its count.
void graph_run::begin(event& done) noexcept {
  mode_.store();
  region_ = region_to_hand_over();
  values_ = values_here();
  done_ = &done;
  // relaxed, all: make_ready releases them to the workers that take nodes
  open_.store(plan_.first.size(), std::memory_order_relaxed);
  end_.store(no_end, std::memory_order_relaxed);
  if (!plan_.has_branches) return;
  for (std::size_t k = 0; k < plan_.nodes.size(); ++k) {
    nodes_[k].left.store(plan_.nodes[k].before, std::memory_order_relaxed);
    nodes_[k].is_left_out.store(false, std::memory_order_relaxed);
  }
}

void graph_run::run() {
  event done;
  begin(done);
  if (!run_here()) wait_on_worker(*current(), done, {"the nodes of a graph", nullptr, wait_kind::join});
  std::exception_ptr const e = std::exchange(error_, nullptr);
  bool const stopped = std::exchange(is_stopped_, false);
  if (e != nullptr) std::rethrow_exception(e);
  if (stopped) throw_stopped();
}

// Runs what it can on top of the caller. True: all nodes have ended. False: others run some, and the last of them sets the event.
bool graph_run::run_here() noexcept {
  std::size_t rows = 1;
  unsigned looks = 0;
  for (std::size_t k = plan_.first.size(); k > 1; --k) make_ready(nodes_[plan_.first[k - 1]]);
  for (node* n = &nodes_[plan_.first[0]]; n != nullptr;) {
    n = run_some(*n, rows);
    if (n == nullptr && current()->ready.empty()) break;  // it may have been the last: then nothing else comes first
    let_due_run();
    worker const& w = *current();
    if (!w.open.empty() || !w.own.empty() || (++looks % tuning::fairness == 0 && !w.ready.empty())) {
      // Only the search looks into the inboxes, and finds in the ring what is of others; and it begins once the caller waits.
      if (n == nullptr) break;
      end_rows(rows - 1);
      make_ready(*n);
      return false;
    }
    if (n == nullptr) n = take_own(rows);
  }
  if (!end_rows(rows)) return false;
  // The caller goes on, maybe for long, and an empty ring would keep thieves awake.
  if (worker& w = *current(); w.ready_is_offered && w.ready.empty()) w.retract_ready();
  return true;
}

// resumable::run of each node: a worker has found it in a ring or an inbox.
void graph_run::run_from_ring(resumable& r, worker& w) noexcept {
  auto& first = static_cast<node&>(r);
  graph_run& self = *first.of;
  self.mode_.adopt();
  w.begin_job();
  w.region = self.region_;
  w.values = self.values_;
  held_mutexes const mutexes{*w.here};
  std::size_t rows = 1;
  node* const next = self.run_some(first, rows);
  if (next != nullptr) --rows;  // it is in that row
  event* const done = rows != 0 && self.end_rows(rows) ? self.done_ : nullptr;
  worker& now = *current();
  mutexes.check(*now.here, "a node of a graph");
  now.end_job();
  if (next != nullptr) make_ready(*next);  // the search looks at what else there is before it
  if (done != nullptr) done->set();
}

// Runs a node, then one that it has made ready or else the newest in the ring, and so on. Null: there is none, or something is due first.
// Else returns the next, since the worker should look at what else there is. `rows`: the row of the present node, and those that have ended
// and still count in open_.
graph_run::node* graph_run::run_some(node& first, std::size_t& rows) noexcept {
  node* n = &first;
  for (unsigned k = 0; k < tuning::graph_nodes_in_a_row && n != nullptr; ++k) {
    n = run_one(*n, rows);
    if (n == nullptr && !is_anything_due(*current())) n = take_own(rows);
  }
  return n;
}

graph_run::node* graph_run::run_one(node& n, std::size_t& rows) noexcept {
  auto const index = static_cast<std::uint32_t>(&n - nodes_.get());
  planned_node const& p = plan_.nodes[index];
  std::int64_t chosen = 0;
  // relaxed, both: what has set them came before this node was made ready; or it is a hint, as the failed node may as well have been later
  bool leaves_out = n.is_left_out.load(std::memory_order_relaxed) || index >= end_.load(std::memory_order_relaxed);
  if (leaves_out) {
    n.is_left_out.store(false, std::memory_order_relaxed);  // relaxed: for the next run, which this one comes before
  } else {
    try {
      throw_if_stopped();
      chosen = p.node->call();
    } catch (...) {
      leaves_out = true;
      failed(index, caught());
    }
  }
  in_order();
  if (!p.chooses) return release(p, leaves_out, rows);
  if (leaves_out || chosen < 0 || chosen >= p.next_count) return nullptr;
  return &nodes_[plan_.next[p.first_next + static_cast<std::uint32_t>(chosen)]];
}

// A node has ended: counts it in those that follow. Returns one of those that are ready now, or null; gives the others to all workers.
graph_run::node* graph_run::release(planned_node const& p, bool leaves_out, std::size_t& rows) noexcept {
  node* mine = nullptr;
  std::uint32_t const* const next = plan_.next.data() + p.first_next;
  for (std::uint32_t k = 0; k < p.next_count; ++k) {
    node& n = nodes_[next[k]];
    std::uint32_t const before = plan_.nodes[next[k]].before;
    if (leaves_out) n.is_left_out.store(true, std::memory_order_relaxed);  // relaxed: the next line, or make_ready, releases it
    if (before > 1) {
      // acq_rel: each other, so that the last one hands on what all of them have written
      if (n.left.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      n.left.store(before, std::memory_order_relaxed);  // relaxed: for the next time, which comes after this node has run
    }
    if (mine != nullptr) {
      if (rows > 1) {
        --rows;
      } else {
        open_.fetch_add(1, std::memory_order_relaxed);  // relaxed: this row is still open
      }
      make_ready(*mine);
    }
    mine = &n;
  }
  return mine;
}

// So many rows of nodes have ended. True: so have all others. Else the run may be gone.
bool graph_run::end_rows(std::size_t rows) noexcept {
  // acq_rel: each other, so that what all nodes have written comes before the end of the run
  return open_.fetch_sub(rows, std::memory_order_acq_rel) == rows;
}

void graph_run::make_ready(node& n) noexcept {
  worker& w = *current();
  if (given_by_priority(w.pool(), n, n.of->region_, w.index())) return;
  try {
    w.make_room_for_ready();
    w.make_ready(n);
  } catch (std::bad_alloc const&) {
    inject(w.pool(), n, w.index());
  }
}

// The newest in the ring, if it is of this run, and its row.
graph_run::node* graph_run::take_own(std::size_t& rows) noexcept {
  worker& w = *current();
  if (w.ready.empty()) return nullptr;
  resumable& r = *continuation{w.ready.newest()}.as_resumable();
  if (!w.pop_ready()) return nullptr;
  if (r.run == run_from_ring && static_cast<node&>(r).of == this) {
    ++rows;
    return &static_cast<node&>(r);
  }
  w.make_ready(r);  // into the place that it has left
  return nullptr;
}

void graph_run::failed(std::uint32_t index, std::exception_ptr e) noexcept {
  bool const was_stopped = is_stopped(e);
  lock_.lock();
  // relaxed: end_ is written under the lock, and what reads it without takes it for a hint
  if (was_stopped) {
    is_stopped_ = true;
    end_.store(0, std::memory_order_relaxed);
  } else if (error_ == nullptr || index < failed_at_) {
    std::swap(error_, e);  // the other one ends without the lock
    failed_at_ = index;
    if (!is_stopped_) end_.store(index, std::memory_order_relaxed);
  }
  lock_.unlock();
}

// ---- What a graph has.

graph_state::graph_state() = default;

graph_state::~graph_state() { forget_plan(); }

// What exit has left as it is: a list, so that a leak check finds it.
static constinit std::atomic<graph_state*> left_in_exit{nullptr};

void end_of_graph::operator()(graph_state* g) const noexcept {
  if (g->runs_.load(std::memory_order_acquire) == 0) return delete g;  // acquire: pairs with the end of a run, for its state
  die_unless_in_exit("a graph was destroyed while it runs; let it outlive graph::run, or the future of pool::submit");
  g->next_left_ = left_in_exit.exchange(g, std::memory_order_relaxed);  // relaxed: no thread reads the list
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

#include "graph/graph_run.hpp"

#include <limits>
#include <new>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/in_order.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/injection.hpp"
#include "nopal/core/scheduler/priorities.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stopped.hpp"
#include "nopal/core/wait/job_wait.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
    error_.swap(e);  // the other one ends without the lock
    failed_at_ = index;
    if (!is_stopped_) end_.store(index, std::memory_order_relaxed);
  }
  lock_.unlock();
}

}  // namespace nopal::core

#pragma once

// One run of a graph: for each node, how many others it still waits for. README.md in core/graph, "A run". Next: graph_run.cpp.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include "graph/plan.hpp"
#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/spin_lock.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core

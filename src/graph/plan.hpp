#pragma once

// The plan of a graph: its nodes and edges in a row, as a run needs them. Made once, by the first run after a change. Next: graph_run.hpp.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nopal/core/graph/node.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A node in a plan.
struct planned_node {
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

}  // namespace nopal::core

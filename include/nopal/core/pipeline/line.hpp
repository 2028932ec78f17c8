#pragma once

// A line: one token of a pipeline, and the item that holds it. Its ticket is what a carrier offers to thieves while it carries that item.
// README.md, "Where a line is" and "Tickets". Next: flow.hpp.

#include <cstddef>
#include <cstdint>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/pipeline/gates.hpp"

namespace nopal::inline NOPAL_ABI::core {

class flow;

/// A place for one more carrier. It holds nothing: the thief that takes it looks for something to carry.
struct ticket : inheriting {
  flow& of;
  basic_ticket_flag<std_sync> is_out;

  ticket(run_function f, flow& whole) noexcept : inheriting{f}, of{whole} {}
};

/// At any time one carrier owns it, or it is at one gate, or it is ready. Only its owner touches it, but for the ticket.
struct line {
  line* behind = nullptr;   ///< in the list of a gate
  std::uint64_t item = 0;   ///< the number of its item, if it has one
  std::size_t slot = 0;     ///< the row with that item's turn at each stage in order
  std::uint32_t holds = 0;  ///< the stage, counted from 1, that takes the value it holds; 0: it holds none
  core::ticket ticket;

  line(resumable::run_function f, flow& whole) noexcept : ticket{f, whole} {}
  line(line const&) = delete;
  line& operator=(line const&) = delete;
};

using turn = basic_turn<std_sync, line>;
using serial_gate = basic_serial_gate<std_sync, line>;
using source_gate = basic_source_gate<std_sync, line>;
using ready_line = basic_ready_line<std_sync, line>;

}  // namespace nopal::core

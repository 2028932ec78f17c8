#pragma once

// A strand put aside: by a root that runs on top of it, or because its stack is left. Why each part is put aside, and what holds meanwhile:
// README.md, "A strand put aside". Next: stack/suspension.hpp, which leaves a stack.

#include <cstdint>

#include "nopal/core/scheduler/strand.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::core {

/// While alive, the strand that ran on the worker is kept here, in the frame of whoever put it aside, and another one may run there on an
/// arena of its own. Restored on whatever worker runs this stack then.
class saved_strand {
 public:
  explicit saved_strand(worker& w) noexcept;
  saved_strand(saved_strand const&) = delete;
  saved_strand& operator=(saved_strand const&) = delete;
  ~saved_strand();

 private:
  worker const* const from_;
  strand cold_;
  // Of fork_state and the deque: what the fork path keeps at hand.
  stacklet* const arena_;
  std::uint64_t const epoch_;
  std::uintptr_t const alarm_;
  std::uintptr_t const limit_;
  std::uintptr_t const parent_word_;
  void* const slot_;
  root* const busy_with_;
};

}  // namespace nopal::core

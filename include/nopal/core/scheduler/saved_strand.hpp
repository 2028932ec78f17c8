#pragma once

// A saved strand: a job runs on top of it, or its stack is suspended. Only the worker that runs the strand saves it. Why each part is
// saved, and what holds until it is restored: README.md, "A saved strand". Next: stack/suspension.hpp, which leaves a stack.

#include <cstdint>

#include "nopal/core/scheduler/strand.hpp"
#include "nopal/core/scheduler/worker.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Saves the strand that runs on the worker, in a frame of its native stack. Until the destructor another strand may run on the worker, on
/// an arena of its own. The destructor restores the saved strand on the worker that runs this stack then.
class saved_strand {
 public:
  explicit saved_strand(worker& w) noexcept;
  saved_strand(saved_strand const&) = delete;
  saved_strand& operator=(saved_strand const&) = delete;
  ~saved_strand();

 private:
  worker const* const from_;
  strand cold_;
  // The strand's parts in fork_state and the deque, where the fork path needs them.
  stacklet* const arena_;
  std::uint64_t const epoch_;
  std::uintptr_t const alarm_;
  std::uintptr_t const limit_;
  std::uintptr_t const parent_word_;
  void* const slot_;
  job* const busy_with_;
  void const* const near_;
  void const* const far_;
  strand_context const context_;
};

}  // namespace nopal::core

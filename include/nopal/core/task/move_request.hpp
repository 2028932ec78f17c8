#pragma once

// A task on its way to another worker: resume_on. Until it is sent it belongs to the worker that the task leaves; then to the one that
// takes it out of its inbox. Next: slow_path.hpp, where the move is requested; resume_loop.hpp, where it is sent and received.

#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/stack/orphan_memory.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct frame;
class worker;

/// Stored in the awaiting task's frame, so that sending it takes no memory.
struct move_request : inheriting {
  move_request() noexcept { next = nullptr; }  // it is moved before it is queued

  frame* task = nullptr;
  worker* to = nullptr;
  orphan_memory memory;  ///< for the task's ancestors, until it is sent
};

}  // namespace nopal::core

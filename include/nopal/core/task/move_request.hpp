#pragma once

// A task on its way to another worker: resume_on. Next: cold_path.hpp, where it is asked for; strand_loop.hpp, where it is sent and received.

#include "nopal/core/deque/resumable.hpp"
#include "nopal/core/stack/orphan_memory.hpp"

namespace nopal::core {

struct frame;
class worker;

/// Lies in the awaiting task's frame.
struct move_request : resumable {
  frame* task = nullptr;
  worker* to = nullptr;
  orphan_memory memory;  ///< for the task's ancestors, until it is sent
};

}  // namespace nopal::core

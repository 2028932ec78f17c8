#pragma once

// A deferred start: a child that was not started because the native stack ran low. Its arguments wait in the arena until the loop at the
// stack's base starts it. The strand that made it starts it; no other worker sees it. Why no stack overflows: README.md, "Depth". Next:
// child.hpp, which makes one; resume_loop.hpp, which starts it.

#include "nopal/core/task/frame.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct deferred_start {
  void (*start)(deferred_start*);  ///< takes the arguments out, frees this, and starts the child
  frame* parent;
  kind how;
  control_words mode{};  ///< in which it starts: that of its parent, when it was deferred
};

}  // namespace nopal::core

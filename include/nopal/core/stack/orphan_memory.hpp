#pragma once

// Memory for orphaned continuations: tasks in a deque whose owner leaves its stack, or moves. They go into an inbox, which links its
// entries, or into a ring. A branch and a stack are resumables and have room for that link; a task's frame has not. Used by a worker, and
// by a task that moves. Next: suspension.hpp, which takes from it.

#include <new>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/deque.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct frame;

/// A task that is in no deque, on its way through an inbox or a ring. The worker that takes this frees it, and resumes the task.
struct orphaned_continuation : inheriting {
  frame* what;
  explicit orphaned_continuation(frame* f) noexcept : what{f} {}
};

/// Memory that a worker gets before it gives anything away: from there on, leaving a stack cannot fail. Owner only.
class NOPAL_API orphan_memory {
 public:
  orphan_memory() noexcept = default;
  orphan_memory(orphan_memory&& o) noexcept : first_{std::exchange(o.first_, nullptr)}, count_{std::exchange(o.count_, 0)} {}
  orphan_memory& operator=(orphan_memory&&) = delete;
  ~orphan_memory() { clear(); }

  /// Gets memory for all tasks that are in `d` now, by the owner of `d`. False: there was too little; what it got is kept for the next try.
  bool get(deque const& d) noexcept;
  /// The continuation of `f`. There must be memory for it.
  orphaned_continuation& take(frame* f) noexcept {
    --count_;
    resumable* const r = std::exchange(first_, first_->next);
    return *::new (static_cast<void*>(r)) orphaned_continuation{f};
  }
  /// Frees the rest.
  void clear() noexcept;

 private:
  resumable* first_ = nullptr;  // linked by next
  deque::index count_ = 0;
};

}  // namespace nopal::core

#pragma once

// Memory for orphaned continuations: tasks that were offered in a deque whose owner leaves it. They go to an inbox, which links what lies in
// it; a task's frame has no room for a link. Next: give_away.hpp, which uses it.

#include <new>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/deque.hpp"
#include "nopal/core/deque/resumable.hpp"

namespace nopal::core {

struct frame;

/// A task that has no place in any deque.
struct orphaned_continuation : resumable {
  frame* what;
  explicit orphaned_continuation(frame* f) noexcept : what{f} {}
};

/// Got before the entries are given away: whoever has begun to leave a stack cannot fail any more.
class NOPAL_API orphan_memory {
 public:
  orphan_memory() noexcept = default;
  orphan_memory(orphan_memory&& o) noexcept : first_{std::exchange(o.first_, nullptr)}, count_{std::exchange(o.count_, 0)} {}
  orphan_memory& operator=(orphan_memory&&) = delete;
  ~orphan_memory() { clear(); }

  /// Memory for all tasks in `d`, by its owner. False: there is none for some; what there was is kept for the next try.
  bool get(deque const& d) noexcept;
  orphaned_continuation& take(frame* f) noexcept {
    --count_;
    resumable* const r = std::exchange(first_, first_->next);
    return *::new (static_cast<void*>(r)) orphaned_continuation{f};
  }
  void clear() noexcept;

 private:
  resumable* first_ = nullptr;
  deque::index count_ = 0;
};

}  // namespace nopal::core

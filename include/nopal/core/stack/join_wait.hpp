#pragma once

// The waiter at the join of an ordinary function: a stack that was left, or a thread on top of its stack. Stored in native_fork.hpp and
// scope_child.hpp. Below: how it waits.

#include <cstdint>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/deque/join_word.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stack;
class top_wait;

/// Undefined until its owner waits: written before the join word announces the steals, read by the worker whose arrival completes them.
class join_waiter {
 public:
  join_waiter() noexcept = default;
  explicit join_waiter(stack& s) noexcept : word_{reinterpret_cast<std::uintptr_t>(&s)} {}
  explicit join_waiter(top_wait& t) noexcept : word_{reinterpret_cast<std::uintptr_t>(&t) | on_top_tag} {}

  bool is_on_top() const noexcept { return (word_ & on_top_tag) != 0; }
  // NOLINTBEGIN(performance-no-int-to-ptr)
  top_wait& on_top() const noexcept { return *reinterpret_cast<top_wait*>(word_ - on_top_tag); }
  stack& left() const noexcept { return *reinterpret_cast<stack*>(word_); }
  // NOLINTEND(performance-no-int-to-ptr)

 private:
  static constexpr std::uintptr_t on_top_tag = 1;
  std::uintptr_t word_;
};

// The wait at the join of an ordinary function whose children run elsewhere. Called by native_fork.hpp and scope_child.hpp. Next:
// suspension.hpp and home.hpp, the two ways to wait.

/// Waits until `n` children have arrived at `j`. Sets `waiting` before the join word tells the last child to read it. Without memory for
/// another stack the worker waits where it is, and tries again now and then, since what it waits for may need this very worker: a task that
/// was moved here by resume_on. By a worker whose deque is empty; another one may run the caller afterwards.
void wait_at_join(join_word& j, std::int64_t n, join_waiter& waiting) noexcept;

/// The join is complete. Resumes the stack that waits there, as resume_at_home; or tells the thread that waits on top of it. By the worker
/// whose arrival has completed it, which may not use the join any more.
void resume(join_waiter waiting) noexcept;

}  // namespace nopal::core

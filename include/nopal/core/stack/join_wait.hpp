#pragma once

// The wait at the join of an ordinary function whose children run elsewhere. Called by native_fork.hpp and scope_child.hpp. Next:
// suspension.hpp and home.hpp, the two ways to wait.

#include <cstdint>

#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/stack/join_waiter.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Waits until `n` children have arrived at `j`. Sets `waiting` before the join word tells the last child to read it. Without memory for
/// another stack the worker waits where it is, and tries again now and then, since what it waits for may need this very worker: a task that
/// was moved here by resume_on. By a worker whose deque is empty; another one may run the caller afterwards.
void wait_at_join(join_word& j, std::int64_t n, join_waiter& waiting) noexcept;

/// The join is complete. Resumes the stack that waits there, as resume_at_home; or tells the thread that waits on top of it. By the worker
/// whose arrival has completed it, which may not use the join any more.
void resume(join_waiter waiting) noexcept;

}  // namespace nopal::core

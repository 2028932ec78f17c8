#pragma once

// A branch: the later half of a fork in an ordinary function, offered as a closure that lies in the forking function's frame. Made by
// invoke.hpp; run by the owner, who pops it, or by the worker that takes it. Next on the path: native_fork.hpp, which runs a stolen one and
// suspends the stack that waits for it.

#include <cstdint>
#include <exception>

#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/deque/resumable.hpp"

namespace nopal::core {

class stack;

/// A resumable: it lies in a deque, or in an inbox if the owner had to give it away, as it is.
struct branch : resumable {
  /// Counts the one steal that can happen to this branch, and guards `error`.
  join_word join;

  // Undefined until needed.
  stack* waiting;  ///< the owner's stack: written before the join word announces the steal, read by a thief whose arrival completes it
  union {
    std::exception_ptr error;  ///< alive if the join word says "recorded"
  };

  explicit branch(run_function f) noexcept : resumable{f} {}
  branch(branch const&) = delete;
  branch& operator=(branch const&) = delete;
  ~branch() {}  // `error` is destroyed by branch_lost or give_up
};

}  // namespace nopal::core

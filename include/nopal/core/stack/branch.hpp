#pragma once

// A branch: the later half of a fork in an ordinary function, offered as a closure that lies in the forking function's frame.
// Next on the path: ../../native.hpp, which makes it; native_fork.hpp, which runs a stolen one and suspends the stack that waits for it.

#include <cstdint>
#include <exception>

#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/deque/resumable.hpp"

namespace nopal::core {

class stack;

struct branch : resumable {
  /// Counts one steal, of this branch, and guards `error`.
  join_word join;

  // Undefined until needed.
  stack* waiting;  ///< written before the join word announces it
  union {
    std::exception_ptr error;  ///< live if the join word says "recorded"
  };

  explicit branch(run_function f) noexcept : resumable{f} {}
  branch(branch const&) = delete;
  branch& operator=(branch const&) = delete;
  ~branch() {}  // error: see branch_lost
};

}  // namespace nopal::core

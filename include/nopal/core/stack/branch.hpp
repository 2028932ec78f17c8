#pragma once

// A branch: the later half of a fork in an ordinary function, offered as a closure that lies in the forking function's frame.
// Next on the path: ../../native.hpp, which makes it; native_fork.hpp, which runs a stolen one and suspends the stack that waits for it.

#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/deque/resumable.hpp"

namespace nopal::core {

class stack;

struct branch : resumable {
  /// Counts one steal, of this branch, and guards the exception.
  join_word join;
  stack* waiting;  ///< undefined until needed; written before the join word announces it

  explicit branch(run_function f) noexcept : resumable{f} {}
  branch(branch const&) = delete;
  branch& operator=(branch const&) = delete;

  /// What the stolen branch has thrown; live if the join word says "recorded". It lies in the place of `next`: only a branch that nobody has begun
  /// lies in a queue.
  std::exception_ptr& error() noexcept { return *std::launder(reinterpret_cast<std::exception_ptr*>(&next)); }
  /// By the thief, with the join word's lock.
  void keep(std::exception_ptr e) noexcept { ::new (static_cast<void*>(&next)) std::exception_ptr{std::move(e)}; }
  static_assert(sizeof(std::exception_ptr) == sizeof(resumable*) && alignof(std::exception_ptr) <= alignof(resumable*));
};

}  // namespace nopal::core

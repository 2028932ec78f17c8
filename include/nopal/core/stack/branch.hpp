#pragma once

// A branch: the later half of a fork in an ordinary function, offered as a closure in the forking function's frame. Made by invoke.hpp; run
// by the owner, which pops it, or by the worker that takes it. Next on the path: native_fork.hpp, which runs a stolen one and suspends the
// stack that waits for it.

#include <exception>
#include <new>
#include <utility>

#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/stack/join_waiter.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A resumable: the same object is in a deque, or in an inbox if the owner had to give it away.
struct branch : inheriting {
  /// Counts the one steal that can happen to this branch, and guards the exception.
  join_word join;
  join_waiter waiting;  ///< the owner

  explicit branch(run_function f) noexcept : inheriting{f} {}
  branch(branch const&) = delete;
  branch& operator=(branch const&) = delete;

  /// What the stolen branch has thrown; alive if the join word says "recorded". By the owner, once the thief has arrived: branch_lost or
  /// give_up destroys it. It is stored in the place of `next`: only a branch that no worker has begun is in a queue.
  std::exception_ptr& error() noexcept { return *std::launder(reinterpret_cast<std::exception_ptr*>(&next)); }
  /// Keeps what the branch has thrown. By the thief, under the join word's lock, before it arrives.
  void keep(std::exception_ptr e) noexcept { ::new (static_cast<void*>(&next)) std::exception_ptr{std::move(e)}; }
  static_assert(sizeof(std::exception_ptr) == sizeof(resumable*) && alignof(std::exception_ptr) <= alignof(resumable*));
};

}  // namespace nopal::core

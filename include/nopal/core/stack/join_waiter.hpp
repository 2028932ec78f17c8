#pragma once

// The waiter at the join of an ordinary function: a stack that was left, or a thread on top of its stack. Stored in branch.hpp and
// children.hpp. Next: join_wait.hpp, how it waits.

#include <cstdint>

#include "nopal/core/compiler/abi.h"

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

}  // namespace nopal::core

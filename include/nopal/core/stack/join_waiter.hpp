#pragma once

// Who waits at the join of an ordinary function: a stack that was left, or a thread on top of its stack. Lies in branch.hpp and children.hpp.
// Next: suspension.hpp, where it waits.

#include <cstdint>

namespace nopal::core {

class stack;
class top_wait;

/// Undefined until its owner waits: written before the join word announces the steals, read by the worker whose arrival completes them.
class join_waiter {
 public:
  join_waiter() noexcept = default;
  explicit join_waiter(stack& s) noexcept : word_{reinterpret_cast<std::uintptr_t>(&s)} {}
  explicit join_waiter(top_wait& t) noexcept : word_{reinterpret_cast<std::uintptr_t>(&t) | on_top} {}

  /// The join is complete. Resumes the stack here, and does not return then; or tells or sends it to whose it is. As resume_at_home. The frame
  /// of the join may be gone afterwards.
  void resume() const noexcept;

 private:
  static constexpr std::uintptr_t on_top = 1;
  std::uintptr_t word_;
};

}  // namespace nopal::core

#pragma once

// One entry of a deque: a word that says what to run. The worker that takes it, owner or thief, runs it. Next: fork_protocol.hpp, which
// pushes one.

#include <cstdint>

#include "nopal/core/deque/resumable.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct frame;

/// A task's frame, or a resumable. A resumable that is a native stack has a tag of its own, since it cannot be resumed on top of another
/// stack. A frame has tag 0: the fork path pushes its address as it is, and a frame needs no function pointer.
class continuation {
 public:
  explicit continuation(std::uintptr_t word) noexcept : word_{word} {}
  explicit continuation(frame* f) noexcept : word_{reinterpret_cast<std::uintptr_t>(f)} {}
  /// A reference: converting a pointer to a derived class would cost a test for null.
  explicit continuation(resumable& r) noexcept : word_{reinterpret_cast<std::uintptr_t>(&r) | resumable_tag} {}
  static continuation of_stack(resumable& s) noexcept {
    return continuation{reinterpret_cast<std::uintptr_t>(&s) | resumable_tag | stack_tag};
  }

  std::uintptr_t word() const noexcept { return word_; }
  bool is_frame() const noexcept { return (word_ & resumable_tag) == 0; }
  bool is_stack() const noexcept { return (word_ & stack_tag) != 0; }
  // NOLINTBEGIN(performance-no-int-to-ptr)
  frame* as_frame() const noexcept { return reinterpret_cast<frame*>(word_); }
  resumable* as_resumable() const noexcept { return reinterpret_cast<resumable*>(word_ & ~tags); }
  // NOLINTEND(performance-no-int-to-ptr)

 private:
  static constexpr std::uintptr_t resumable_tag = 1;
  static constexpr std::uintptr_t stack_tag = 2;
  static constexpr std::uintptr_t tags = resumable_tag | stack_tag;
  static_assert(alignof(resumable) > tags);
  std::uintptr_t word_;
};

}  // namespace nopal::core

#pragma once

// What a deque holds: one word that says what it is. Whoever steals it resumes it.

#include <cstdint>

namespace nopal::core {

struct branch;
struct frame;
struct job;
class stack;

/// The low bits of a deque entry. A coroutine is tag 0, so that the fork path pushes the frame's address as it is.
enum class continuation_kind : std::uintptr_t {
  coroutine = 0,  ///< a suspended coroutine: a frame
  closure = 1,    ///< not started yet: a job
  branch = 2,     ///< not started yet: the second half of a fork in an ordinary function
  stack = 3,      ///< a native stack that was left at a fork of a scope
};

class continuation {
 public:
  explicit continuation(std::uintptr_t word) noexcept : word_{word} {}
  explicit continuation(frame* f) noexcept : word_{reinterpret_cast<std::uintptr_t>(f)} {}
  explicit continuation(branch* b) noexcept : word_{reinterpret_cast<std::uintptr_t>(b) | static_cast<std::uintptr_t>(continuation_kind::branch)} {}
  inline explicit continuation(stack* s) noexcept;  // stack.hpp: the address is that of a base class
  explicit continuation(job* j) noexcept : word_{reinterpret_cast<std::uintptr_t>(j) | static_cast<std::uintptr_t>(continuation_kind::closure)} {}

  std::uintptr_t word() const noexcept { return word_; }
  explicit operator bool() const noexcept { return word_ != 0; }
  continuation_kind what() const noexcept { return static_cast<continuation_kind>(word_ & 3); }
  frame* as_frame() const noexcept { return reinterpret_cast<frame*>(word_); }                       // NOLINT(performance-no-int-to-ptr)
  branch* as_branch() const noexcept { return reinterpret_cast<branch*>(word_ & ~std::uintptr_t{3}); }  // NOLINT(performance-no-int-to-ptr)
  inline stack* as_stack() const noexcept;
  job* as_job() const noexcept { return reinterpret_cast<job*>(word_ & ~std::uintptr_t{3}); }     // NOLINT(performance-no-int-to-ptr)

 private:
  std::uintptr_t word_;
};

}  // namespace nopal::core

#pragma once

// A resumable: what a worker can run from where it stands. A job that has not started, the later half of a fork in an ordinary function, a
// native stack that was left. A task's frame is none: it has no room for these words. Below: one entry of a deque.

#include <cstdint>

#include "nopal/core/deque/job_context.hpp"

namespace nopal::inline NOPAL_ABI::core {

class worker;

/// The worker that takes it from its queue calls run once. Another worker may take, run and destroy it as soon as it is queued. It may be
/// gone when run returns.
///
/// A worker calls run when its strand has ended and its deque is empty. run either adopts `runs_in`, begins a strand and ends it; or
/// resumes a stack and never returns. A strand is begun and ended by begin_strand and end_strand, with begin_without_tasks between them for
/// an ordinary function; or, where the deque is rewound, by begin_job and end_job for both. run may return on another worker, so its caller
/// uses nothing afterwards. What a pool's end must wait for is counted: pool_state::pending, or fibers_spawned and fibers_finished.
struct resumable {
  using run_function = void (*)(resumable&, worker&) noexcept;

  resumable* next;  ///< in the queue that holds it; elsewhere the resumable's own: a branch keeps its exception there
  run_function run;
  /// In what context run is to run its code. Set by the thread that queues it in an inbox or a ring; for a branch, by the thread that takes
  /// it from a deque. The mode of a stack is in its frames, where the switch finds it, and so is the region of one that was left and not
  /// offered. A fiber's mode is in its record.
  job_context runs_in;

  constexpr explicit resumable(run_function f = nullptr) noexcept : run{f} {}
};

/// A resumable that continues the work of a fiber or a job which has begun, or begins that of a job: its code sees the fiber-local values of
/// what it came from. Each resumable that a worker's deque of forks holds is one.
struct inheriting : resumable {
  fiber_values* values;  ///< set as runs_in

  constexpr explicit inheriting(run_function f = nullptr) noexcept : resumable{f} {}  // leaves `values` undefined: a fork does not set it

  strand_context inherited() const noexcept { return {runs_in, values}; }
  void inherit(strand_context const& c) noexcept {
    runs_in = c;
    values = c.values;
  }
};

// One entry of a deque: a word that says what to run. The worker that takes it, owner or thief, runs it. Next: fork_protocol.hpp, which
// pushes one.

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
  /// For an entry of a worker's deque of forks.
  inheriting* as_inheriting() const noexcept { return static_cast<inheriting*>(as_resumable()); }
  // NOLINTEND(performance-no-int-to-ptr)

 private:
  static constexpr std::uintptr_t resumable_tag = 1;
  static constexpr std::uintptr_t stack_tag = 2;
  static constexpr std::uintptr_t tags = resumable_tag | stack_tag;
  static_assert(alignof(resumable) > tags);
  std::uintptr_t word_;
};

}  // namespace nopal::core

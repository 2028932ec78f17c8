#pragma once

// What the running thread works for. Read afresh after everything that can suspend: the worker under one's feet may have
// changed. Next on the path: worker.hpp.

#include <cstddef>
#include <cstdint>
#include <exception>

#include "nopal/core/task/arena.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/architecture/thread_words.hpp"

namespace nopal::core {

class stack;
class worker;

NOPAL_INLINE std::uintptr_t stack_pointer() noexcept {
  std::uintptr_t sp;
#if defined(__x86_64__)
  asm("movq %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
  asm("mov %0, sp" : "=r"(sp));
#else
  sp = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
  return sp;
}

/// stack_pointer() < limit: where it can be one instruction, without a frame pointer.
NOPAL_INLINE bool stack_below(std::uintptr_t const& limit) noexcept {
#if defined(__x86_64__)
  bool below;
  asm("cmpq %1, %%rsp" : "=@ccb"(below) : "m"(limit));
  return below;
#else
  return stack_pointer() < limit;
#endif
}

/// The part of a worker that a fork touches first, and all that a thread without a worker has of one.
struct fork_state {
  /// What the next child to be born finds: written just before its function is called.
  std::uintptr_t parent_word = 0;
  void* slot = nullptr;

  core::arena arena;

  /// The native stack that runs here: null on a thread that works for no pool.
  stack* here = nullptr;
  NOPAL_INLINE bool works() const noexcept { return here != nullptr; }

  /// After a called child returned, its caller may go on only from below the alarm: see undisturbed.
  std::uintptr_t alarm = no_alarm;
  static constexpr std::uintptr_t no_alarm = ~std::uintptr_t{0};
  /// The same, and no task's frame lies on this native stack: nothing of a strand need be put aside before it is left.
  static constexpr std::uintptr_t no_tasks = no_alarm - 1;

  /// No if the caller's stack frame lies at or above the alarm: everything unwinds or the child left an exception (alarm 0), or the
  /// child left an empty segment in the arena (alarm just above that child's frame).
  NOPAL_INLINE bool undisturbed() const noexcept { return stack_below(alarm); }
  /// For a coroutine that was resumed by the worker loop: is there an exception for it?
  NOPAL_INLINE bool must_throw() const noexcept { return alarm == 0; }

  /// Memory for a coroutine's frame.
  NOPAL_INLINE void* allocate(std::size_t n) {
    void* p;
    if (arena.bump(n, p)) [[likely]] return p;
    return grow(n);
  }
  NOPAL_API NOPAL_COLD void* grow(std::size_t n);
};

NOPAL_API [[noreturn]] NOPAL_COLD void die_called_directly() noexcept;
/// A task ends with children not joined; `e`: that it ends by, or null.
NOPAL_API [[noreturn]] NOPAL_COLD void die_unjoined(std::exception_ptr e) noexcept;

/// What the running thread works for, read afresh; on a thread that works for no pool, a state that says no to works(). All that a fork needs
/// lies behind this one pointer: addressed through the thread register itself it costs 1.5 ns a fork more (docs/fork-cost.md).
NOPAL_INLINE fork_state* state_here() noexcept { return static_cast<fork_state*>(read_thread_word<thread_word::state>()); }
/// `s`: a worker; or null: from now on it works for no pool.
void work_for(fork_state* s) noexcept;

/// The worker whose strand runs here. Only where one does; never keep the result across anything that can suspend.
NOPAL_INLINE worker* current() noexcept;
/// The same, or null on a thread that works for no pool now.
worker* current_or_null() noexcept;

}  // namespace nopal::core

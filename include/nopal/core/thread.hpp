#pragma once

// What the running thread works for. Read afresh after everything that can suspend: the worker under one's feet may have
// changed. Next on the path: worker.hpp.

#include <cstddef>
#include <cstdint>

#include "nopal/core/arena.hpp"
#include "nopal/core/config.hpp"

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

/// The part of a worker that a fork touches first, and all that a thread without a worker has of one.
struct fork_state {
  /// What the next child to be born finds: written just before its function is called.
  std::uintptr_t parent_word = 0;
  void* slot = nullptr;

  core::arena arena;

  /// The native stack that runs here: null on a thread that works for no pool.
  stack* here = nullptr;

  /// After a called child returned, its caller may go on only from below the alarm: see undisturbed.
  std::uintptr_t alarm = no_alarm;
  static constexpr std::uintptr_t no_alarm = ~std::uintptr_t{0};
  /// The same, and no task's frame lies on this native stack: nothing of a strand need be put aside before it is left.
  static constexpr std::uintptr_t no_tasks = no_alarm - 1;

  /// No if the caller's stack frame lies at or above the alarm: everything unwinds or the child left an exception (alarm 0), or the
  /// child left an empty segment in the arena (alarm just above that child's frame).
  NOPAL_INLINE bool undisturbed() const noexcept { return stack_pointer() < alarm; }
  /// For a coroutine that was resumed by the worker loop: is there an exception for it?
  NOPAL_INLINE bool must_throw() const noexcept { return alarm == 0; }

  /// Memory for a coroutine's frame.
  NOPAL_INLINE void* allocate(std::size_t n) {
    void* p;
    if (arena.bump(n, p)) [[likely]] return p;
    return grow(n);
  }
  NOPAL_COLD void* grow(std::size_t n);
};

[[noreturn]] NOPAL_COLD void die_called_directly() noexcept;

/// What threads without a worker have: every allocation ends in a message.
extern constinit fork_state nobody;

/// constinit: no guard and no wrapper. In position-independent code for a shared library also initial-exec: no call. All that a fork
/// needs lies behind this one pointer: addressed through the segment register itself it costs 1.5 ns a fork more
/// (docs/fork-cost.md).
NOPAL_TLS inline constinit thread_local fork_state* current_state = &nobody;

/// What the running thread works for, read afresh. A thread-local's address may be kept by the compiler, and a native stack may go
/// on on another thread after any call: where reads go by the address (sanitizers, other machines), out of line.
#if defined(__x86_64__) && !NOPAL_ASAN && !NOPAL_TSAN
NOPAL_INLINE fork_state* state_here() noexcept { return current_state; }
#else
[[gnu::noinline]] inline fork_state* state_here() noexcept {
  asm volatile("");  // not pure
  return current_state;
}
#endif

/// The worker whose strand runs here. Only where one does; never keep the result across anything that can suspend.
NOPAL_INLINE worker* current() noexcept;
/// The same, or null on a thread that works for no pool now.
worker* current_or_null() noexcept;

}  // namespace nopal::core

#pragma once

// The stack-overflow handler. The guard page below each native stack makes an overflow a fault. This handler, for SIGSEGV and SIGBUS, says
// which stack overflowed and ends the program. It passes any other fault, and every signal that was sent, to the handler that was installed
// before, as the kernel would have delivered it. Called by each thread that makes or ends a pool, and by each thread before it works for
// one. How it is done: src/stack/stack_overflow.cpp; what users are told: docs/security.md. This is a side path: nothing comes after it.

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Each pool has one: while any lives the handler is installed. If the program has installed a handler of its own above this one, this one
/// stays below it when the last pool ends. In builds with AddressSanitizer or ThreadSanitizer this does nothing: they keep their own
/// handlers.
class stack_overflow_handler {
 public:
  stack_overflow_handler() noexcept;
  stack_overflow_handler(stack_overflow_handler const&) = delete;
  stack_overflow_handler& operator=(stack_overflow_handler const&) = delete;
  ~stack_overflow_handler();

  /// Around a fork, by the thread that forks: no other thread makes or ends a handler in between.
  static void before_fork() noexcept;
  static void after_fork() noexcept;
};

/// Gives the calling thread, which is about to work for a pool, an alternate stack for signal handlers, unless it has one. The stack is
/// unmapped when the thread ends. Costs system calls the first time only. Without memory for it, an overflow on this thread ends the
/// program without the message.
void take_alternate_stack() noexcept;

/// Unmaps the calling thread's alternate stack, if it is ours and not in use. By a thread that works for no pool now.
void give_back_alternate_stack() noexcept;

}  // namespace nopal::core

#pragma once

// The stack-overflow handler. The guard page below each native stack makes an overflow a fault; this handler, for SIGSEGV and
// SIGBUS, tells whose stack it was. Every other signal goes on to whatever was installed before, as the kernel would have delivered
// it. src/overflow.cpp says how.

#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// Installed while some pool lives. Where the program has put a handler of its own above it, it stays below that one, and so does its code:
/// the shared object that holds it is never unloaded then. Sanitizers keep their handlers: with them this does nothing.
class stack_overflow_handler {
 public:
  stack_overflow_handler() noexcept;
  stack_overflow_handler(stack_overflow_handler const&) = delete;
  stack_overflow_handler& operator=(stack_overflow_handler const&) = delete;
  ~stack_overflow_handler();
};

/// The calling thread may run workers: its signal handlers get an alternate stack, unless it has one. It goes back when the thread
/// ends. Cheap but for the first time. Without memory for it, an overflow on this thread ends the program without the message.
void take_alternate_stack() noexcept;

/// The calling thread, which works for no pool now, may not need that any more.
void give_back_alternate_stack() noexcept;

}  // namespace nopal::core

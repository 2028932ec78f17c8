#pragma once

// Native stack overflow ends in a message, not in silent corruption: the guard page makes it a fault, and this tells whose.

#include "nopal/core/config.hpp"

namespace nopal::core {

/// Once per process: a handler for SIGSEGV and SIGBUS, before whatever handler was there, to which every other fault goes on.
/// Sanitizers keep theirs.
void watch_for_overflow() noexcept;

/// The calling thread may run workers: its handlers get a stack of their own, unless it has one. Once per thread, then free. Without memory
/// for that, an overflow on this thread ends the program without the message.
void prepare_thread_for_overflow() noexcept;

}  // namespace nopal::core

#pragma once

// The name of a pool's thread, for top, gdb and perf. By scheduler.cpp and wait/timer.cpp, on a thread that has just begun.

#include <signal.h>

#include <string_view>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Names the calling thread name:what, in the 15 characters that the system keeps; cuts off the end of a longer `name`. Does nothing if
/// `name` is empty.
void name_this_thread(std::string_view name, std::string_view what) noexcept;

// Which signals the threads of a pool take. None that is meant for the program: these are left to the threads that the program made, or to
// its signalfd or sigwait. Only the signals that a thread causes itself, and SIGPROF for profilers, are not blocked. By scheduler.cpp and
// wait/timer.cpp, which make threads.

/// While it lives, the calling thread blocks all other signals, so that a thread which it makes begins with that mask. The destructor
/// restores the mask.
class only_own_signals {
 public:
  only_own_signals() noexcept;
  only_own_signals(only_own_signals const&) = delete;
  only_own_signals& operator=(only_own_signals const&) = delete;
  ~only_own_signals();

 private:
  sigset_t before_;
};

/// By a thread of a pool that has just begun: blocks all other signals, and unblocks those, even if the maker of the thread had blocked
/// them.
void take_own_signals() noexcept;

// A worker's thread in the child of a fork: a job has forked, and its thread is the only one there. That thread works for no pool any more.
// The job may exec, exit, or use pools that are made in the child; but the frames of nopal below it, to which it would return, need the
// worker. So the thread's state is one that says so; in place of the worker there is memory that faults. Called by scheduler.hpp and by
// ../stack/stack_overflow.hpp, whose handler explains the fault. This is a side path: nothing comes after it.

/// In the child of a fork, by its only thread: if the thread works for a pool, it works for none from now on. Calls nothing but the kernel.
void fall_into_fork_trap() noexcept;
/// True if such a thread's job has returned and touched its worker at `address`. Any thread, also in a signal handler.
bool is_fork_trap(void const* address) noexcept;

}  // namespace nopal::core

#pragma once

// Which signals the threads of a pool take. None that is meant for the program: these are left to the threads that the program made, or to
// its signalfd or sigwait. Only the signals that a thread causes itself, and SIGPROF for profilers, are not blocked. By scheduler.cpp and
// wait/timer.cpp, which make threads. Next: thread_name.hpp.

#include <signal.h>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core

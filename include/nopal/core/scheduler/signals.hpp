#pragma once

// Which signals the threads of a pool take: none that is meant for the program, so that these go to the threads that the program made, or
// to its signalfd or sigwait. Not blocked are only the signals that tell a thread of what it has done itself, and SIGPROF, for profilers.
// By scheduler.cpp and wait/timer.cpp, which make threads. Next: thread_name.hpp.

#include <signal.h>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// While it lives, the calling thread blocks all signals but those, so that a thread which it makes begins with that mask. Afterwards the
/// mask is what it was.
class only_own_signals {
 public:
  only_own_signals() noexcept;
  only_own_signals(only_own_signals const&) = delete;
  only_own_signals& operator=(only_own_signals const&) = delete;
  ~only_own_signals();

 private:
  sigset_t before_;
};

/// The calling thread, which belongs to a pool and has just begun, blocks all signals but those, and takes those even if its maker had
/// blocked them.
void take_own_signals() noexcept;

}  // namespace nopal::core

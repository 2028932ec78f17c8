#pragma once

// Which signals the threads of a pool take: none that is meant for the program. So they go to the threads that the program made, or to its
// signalfd or sigwait. Open are only those that tell a thread of what it has done itself, and SIGPROF, for profilers.

#include <signal.h>

namespace nopal::core {

/// While it lives, the calling thread takes no signals but those: a thread that it makes begins so. Afterwards its mask is what it was.
class only_own_signals {
 public:
  only_own_signals() noexcept;
  only_own_signals(only_own_signals const&) = delete;
  only_own_signals& operator=(only_own_signals const&) = delete;
  ~only_own_signals();

 private:
  sigset_t before_;
};

/// A thread of a pool begins: it takes those, whatever its maker had blocked.
void take_own_signals() noexcept;

}  // namespace nopal::core

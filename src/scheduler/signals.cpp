#include "nopal/core/scheduler/signals.hpp"

#include <pthread.h>

#include <initializer_list>

namespace nopal::inline NOPAL_ABI::core {

namespace {

// All signals but those that a thread causes itself, and SIGPROF, which is sent to the thread that uses the processor.
sigset_t all_but_own() noexcept {
  sigset_t set;
  ::sigfillset(&set);
  for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) ::sigdelset(&set, own);
  return set;
}

}  // namespace

only_own_signals::only_own_signals() noexcept {
  sigset_t const blocked = all_but_own();
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

only_own_signals::~only_own_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void take_own_signals() noexcept {
  sigset_t const blocked = all_but_own();
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace nopal::core

#include "nopal/core/scheduler/threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace nopal::inline NOPAL_ABI::core {

void name_this_thread(std::string_view name, std::string_view what) noexcept {
  if (name.empty()) return;
  std::array<char, 16> text{};
  std::size_t const room = text.size() - 2;  // for the colon and the end
  what = what.substr(0, room - 1);
  name = name.substr(0, room - what.size());
  char* end = std::copy(name.begin(), name.end(), text.begin());
  *end++ = ':';
  std::copy(what.begin(), what.end(), end);
  ::pthread_setname_np(::pthread_self(), text.data());  // it cannot fail: the name is short enough, and the thread is the caller
}

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

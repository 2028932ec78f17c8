#pragma once

// Which signals the calling thread blocks, and a caller that works for a pool.

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <thread>
#include <vector>

#include "../this_thread.hpp"
#include "nopal/pool.hpp"

namespace test {

inline void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds{ms}); }

inline sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (int const s : signals) ::sigaddset(&set, s);
  return set;
}
/// Those that the calling thread blocks, of all signals by number.
inline std::vector<bool> blocked() {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  std::vector<bool> of(static_cast<std::size_t>(SIGRTMAX) + 1);
  for (int s = 1; s <= SIGRTMAX; ++s) of[static_cast<std::size_t>(s)] = ::sigismember(&now, s) == 1;
  return of;
}

/// Calls f() once, by the calling thread in a worker's place, as soon as a worker sleeps.
template <class F>
void run_as_guest(nopal::pool& pool, F f) {
  auto const caller = this_thread();
  bool done = false;
  while (!done) {
    sleep_ms(1);
    done = pool.run([&] {
      bool const here = this_thread() == caller;
      if (here) f();
      return here;
    });
  }
}

}  // namespace test

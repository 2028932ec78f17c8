#pragma once

// For the tests of what an exception asks to stop.

#include <atomic>
#include <thread>

#include "nopal/pool.hpp"
#include "nopal/stop.hpp"

namespace test {

struct failure {
  int which;
};

/// Waits for another thread, which has something to say.
inline void await(std::atomic<bool> const& b) {
  while (!b) std::this_thread::yield();
}
/// Runs until it is asked.
inline void run_until_asked() {
  while (!nopal::stop_requested()) std::this_thread::yield();
}

/// Which exception comes out.
template <class F>
int thrown_by(nopal::pool& pool, F f) {
  try {
    pool.run(f);
    return 0;
  } catch (failure const& e) {
    return e.which;
  }
}

}  // namespace test

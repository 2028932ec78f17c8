#pragma once

// For the tests of requests to stop that an exception makes.

#include <atomic>
#include <thread>

#include "nopal/pool.hpp"
#include "nopal/stop.hpp"

namespace test {

struct failure {
  int which;
};

/// Waits for a flag of another thread.
inline void await(std::atomic<bool> const& b) {
  while (!b) std::this_thread::yield();
}
/// Runs until it gets a request.
inline void run_until_asked() {
  while (!nopal::stop_requested()) std::this_thread::yield();
}

/// The exception that is thrown.
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

#pragma once

// A wait that gets a request to stop.

#include <atomic>
#include <stop_token>
#include <thread>

#include "nopal/pool.hpp"
#include "nopal/stop.hpp"

namespace test {

/// Calls wait() in a region that gets a request to stop soon; returns true if it threw `stopped`.
template <class Wait>
bool is_stopped(nopal::pool& pool, Wait wait) {
  std::stop_source source;
  std::atomic<bool> begun{false};
  auto f = pool.submit(source.get_token(), [&] {
    begun = true;
    try {
      wait();
    } catch (nopal::stopped const&) {
      return true;
    }
    return false;
  });
  while (!begun) std::this_thread::yield();
  source.request_stop();
  return f.get();
}

}  // namespace test

#pragma once

// Tests that must pass on any pool.

#include <gtest/gtest.h>

#include <string>

#include "nopal/pool.hpp"

namespace test {

/// Calls f(pool) on pools of several sizes.
template <class F>
void on_some_pools(F f) {
  for (unsigned const workers : {1u, 2u, 3u, 8u}) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    f(pool);
  }
}

/// The same, and on pools with workers that sleep and with workers that never do.
template <class F>
void on_lazy_and_busy_pools(F&& f) {
  for (unsigned const workers : {1u, 2u, 3u, 8u}) {
    for (auto const idle : {nopal::idle::lazy, nopal::idle::busy}) {
      SCOPED_TRACE(std::to_string(workers) + (idle == nopal::idle::busy ? " busy workers" : " lazy workers"));
      nopal::pool pool{{.workers = workers, .idle = idle}};
      f(pool);
    }
  }
}

}  // namespace test

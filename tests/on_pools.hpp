#pragma once

// Tests that must pass whatever the pool.

#include <gtest/gtest.h>

#include "nopal/pool.hpp"

namespace test {

/// f(pool) on pools of several sizes.
template <class F>
void on_some_pools(F f) {
  for (unsigned const workers : {1u, 2u, 3u, 8u}) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    f(pool);
  }
}

}  // namespace test

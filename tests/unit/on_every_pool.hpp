#pragma once

// Tests of tasks that must pass on any pool, also if no worker steals.

#include <gtest/gtest.h>

#include "../on_pools.hpp"
#include "nopal/pool.hpp"

namespace test {

/// Runs on pools of 1, 2, 3 and 8 workers, lazy and busy, and on one that does not steal.
template <class F>
void on_every_pool(F&& f) {
  on_lazy_and_busy_pools(f);
  SCOPED_TRACE("3 workers that do not steal");
  nopal::pool pool{{.workers = 3, .steal = false}};
  f(pool);
}

}  // namespace test

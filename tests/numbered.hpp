#pragma once

// Exceptions that a test can tell apart.

#include "nopal/pool.hpp"

namespace test {

struct numbered {
  int number;
};

/// The number of the exception that f throws on the pool; 0 if none.
template <class F>
int number_thrown(nopal::pool& pool, F f) {
  try {
    pool.run(f);
  } catch (numbered const& e) {
    return e.number;
  }
  return 0;
}

}  // namespace test

#pragma once

// Exceptions that a test can tell apart.

#include "nopal/pool.hpp"

namespace test {

struct numbered {
  int number;
};

/// That of the exception which comes out of f on the pool; 0 if none does.
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

#pragma once

// Where algorithms run, and forks of a number of parts that only their own exceptions end.

#include <cstddef>

#include "nopal/core/compiler/config.hpp"
#include "nopal/native.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// Calls f on a worker: here if the caller works for a pool, else on default_pool(). Throws what f throws, and what default_pool() throws.
template <class F>
void on_pool(F&& f) {
  if (core::state_here()->works()) {
    f();
  } else {
    default_pool().run([&f] { f(); });
  }
}

/// Calls part(i) for each i of [first, last), in parallel. If parts throw, rethrows the exception of the first of them; it is then unknown
/// which others have run, so parts that must all run catch. O(last - first) work, logarithmic span besides the parts. Called by a worker.
template <class Part>
void each_part(std::size_t first, std::size_t last, const Part& part) {
  if (last - first <= 1) {
    if (first < last) part(first);
    return;
  }
  const std::size_t middle = first + (last - first) / 2;
  nopal::parallel_invoke([&, first, middle] { algorithms::each_part(first, middle, part); },
                         [&, middle, last] { algorithms::each_part(middle, last, part); });
}

}  // namespace nopal::core::algorithms

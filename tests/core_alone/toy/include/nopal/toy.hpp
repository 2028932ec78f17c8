#pragma once

// A companion for tests: in pools that are named "toy" it counts steals, and idle workers wait in an event source of its own.
// toy_test.cpp runs it; new_companion.cmake adds it to nopal as a newcomer would.

#include <atomic>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI {

struct toy_counts {
  std::atomic<unsigned> steals{0}, polls{0}, waits{0};
};
inline toy_counts toy;

}  // namespace nopal

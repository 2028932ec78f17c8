#pragma once

// oneTBB's parallel_for, with one of its partitioners. Its arena has as many threads as workers, the calling one among them.

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/version.h>

#include "loops.hpp"

namespace bench {

template <class Partitioner>
struct tbb_loops {
  explicit tbb_loops(unsigned workers) : parallelism{oneapi::tbb::global_control::max_allowed_parallelism, workers} {}
  static std::string version() { return std::string{"oneTBB "} + TBB_runtime_version(); }
  template <class Body>
  void loop(std::size_t n, Body const& body) {
    oneapi::tbb::parallel_for(std::size_t{0}, n, body, Partitioner{});
  }
  oneapi::tbb::global_control parallelism;
};

}  // namespace bench

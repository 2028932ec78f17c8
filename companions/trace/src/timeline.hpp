#pragma once

// Turns what a pool's workers have recorded into tracks and slices: a lane for each worker, one for threads outside, the spans, and the
// number of native stacks. ../README.md, "From events to slices". Called by pool_trace.cpp. Next: perfetto.hpp, the format.

#include <cstdint>
#include <string>
#include <vector>

#include "trace/src/ring.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What was recorded in one pool.
struct traced_pool {
  std::uint64_t number;  ///< in the process
  std::string name;
  std::vector<trace_copy> lanes;  ///< of each worker
  trace_copy outside;             ///< what threads outside gave to the pool
};

/// Adds it to a file's bytes. `addition`: a different number for each use in one process. Throws std::bad_alloc.
void add_timeline(std::string& file, std::uint32_t addition, traced_pool const& pool);

class perfetto_trace;
/// Adds the track of the process, the parent of all others, and returns its number. Throws std::bad_alloc.
std::uint64_t add_process(perfetto_trace& to);

}  // namespace nopal::core

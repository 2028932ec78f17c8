#pragma once

// What outside_spans.cpp has recorded, for trace_files.cpp, which calls under its lock.

#include <vector>

#include "nopal/core/compiler/abi.h"
#include "trace/src/span_tracks.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// From now on spans of threads outside are recorded. Throws std::bad_alloc.
void record_spans_outside();
/// The spans that have ended, each once; with `open_ones` also those that have not. Throws std::bad_alloc.
std::vector<traced_span> take_spans_outside(bool open_ones);

}  // namespace nopal::core

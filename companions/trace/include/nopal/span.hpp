#pragma once

// span: the earlier name of trace_span. Next: trace_span.hpp.

#include "nopal/core/compiler/config.hpp"

#include "nopal/trace_span.hpp"

namespace nopal::inline NOPAL_ABI {

/// Deprecated: write trace_span.
using span NOPAL_DEPRECATED("write nopal::trace_span") = trace_span;

}  // namespace nopal

#pragma once

// span: the name that trace_span had before version 0.2. Next: trace_span.hpp.

#include "nopal/core/compiler/config.hpp"

#include "nopal/trace_span.hpp"

namespace nopal::inline NOPAL_ABI {

/// Deprecated: write trace_span.
using span NOPAL_DEPRECATED("write nopal::trace_span") = trace_span;

}  // namespace nopal

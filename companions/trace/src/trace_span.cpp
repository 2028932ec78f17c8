// Spans: recorded where they begin and end, which may be on two workers. The id says where the span began: on a worker, or outside.

#include "nopal/trace_span.hpp"

#include "nopal/core/scheduler/worker.hpp"
#include "observe/tell.hpp"
#include "trace/src/outside_spans.hpp"
#include "trace/src/pool_trace.hpp"

namespace nopal::inline NOPAL_ABI {

trace_span::trace_span(span_name name) noexcept : id_{0} {
  NOPAL_PROBE2(span_begin, this, name.text());
  if (core::worker* const w = core::current_or_null(); w == nullptr) {
    id_ = core::begin_span_outside(name.text());
  } else if (core::trace_ring* const ring = core::pool_trace::of(*w); ring != nullptr) [[unlikely]] {
    id_ = ring->begin_span(name.text());
  }
}

void trace_span::end() noexcept {
  NOPAL_PROBE1(span_end, this);
  if (!core::trace_ring::is_workers(id_)) return core::end_span_outside(id_);
  core::worker* const w = core::current_or_null();
  core::trace_ring* const ring = w == nullptr ? nullptr : core::pool_trace::of(*w);
  if (ring != nullptr) ring->end_span(id_);
}

}  // namespace nopal

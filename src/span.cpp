// Spans: recorded where they begin and end, which may be two workers. An id says where it began: on a worker, or outside.

#include "nopal/span.hpp"

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/trace/outside_spans.hpp"
#include "trace/probe.hpp"

namespace nopal::inline NOPAL_ABI {

span::span(span_name name) noexcept : id_{0} {
  NOPAL_PROBE2(span_begin, this, name.text());
  if (core::worker* const w = core::current_or_null(); w == nullptr) {
    id_ = core::begin_span_outside(name.text());
  } else if (w->trace != nullptr) [[unlikely]] {
    id_ = w->trace->begin_span(name.text());
  }
}

void span::end() noexcept {
  NOPAL_PROBE1(span_end, this);
  if (!core::trace_ring::is_workers(id_)) return core::end_span_outside(id_);
  core::worker* const w = core::current_or_null();
  if (w != nullptr && w->trace != nullptr) w->trace->end_span(id_);
}

}  // namespace nopal

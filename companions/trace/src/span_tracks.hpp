#pragma once

// The user's spans on tracks of their own: ../README.md, "Spans". Called by timeline.cpp and trace_files.cpp.

#include <cstdint>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "trace/src/ring.hpp"
#include "trace/src/perfetto.hpp"
#include "trace/src/track_ids.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct traced_span {
  char const* name;
  std::int64_t begin;
  std::int64_t end;  ///< still_open: it has not ended
  static constexpr std::int64_t still_open = INT64_MAX;
};

/// Matches the beginnings and ends of spans, which may be added in any order. Throws std::bad_alloc.
class span_pairs {
 public:
  void add(trace_event const& e);
  /// All spans that have begun. An end is dropped if its beginning was overwritten.
  std::vector<traced_span> all() const;

 private:
  std::vector<trace_event> parts_;
};

/// Adds the spans below the track `parent`. A name gets as many tracks as it has spans at once; viewers show these as one. The tracks'
/// numbers are track_id(kind, addition, ...).
void add_spans(perfetto_trace& to, std::uint64_t parent, track_kind kind, std::uint64_t addition, std::vector<traced_span> spans);

}  // namespace nopal::core

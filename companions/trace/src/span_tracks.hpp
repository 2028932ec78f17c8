#pragma once

// The user's spans on tracks of their own: README.md, "Spans". Called by timeline.cpp and trace_files.cpp.

#include <cstdint>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "trace/src/event.hpp"
#include "trace/src/perfetto.hpp"
#include "trace/src/track_ids.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct traced_span {
  char const* name;
  std::int64_t begin;
  std::int64_t end;  ///< still_open: it has not ended
  static constexpr std::int64_t still_open = INT64_MAX;
};

/// Puts spans that began and ended in any order together. Throws std::bad_alloc.
class span_pairs {
 public:
  void add(trace_event const& e);
  /// All that have begun. An end without a beginning is dropped: that was overwritten.
  std::vector<traced_span> all() const;

 private:
  std::vector<trace_event> parts_;
};

/// Adds the spans below the track `parent`: on as many tracks of each name as there are spans of that name at once, and viewers show these
/// as one. The tracks' numbers are track_id(kind, addition, ...).
void add_spans(perfetto_trace& to, std::uint64_t parent, track_kind kind, std::uint64_t addition, std::vector<traced_span> spans);

}  // namespace nopal::core

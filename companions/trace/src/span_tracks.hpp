#pragma once

// The numbers of tracks: the same at each addition to the trace of a pool, different for each pool and process. Used below, and by
// timeline.cpp.

#include <unistd.h>

#include <cstdint>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "trace/src/perfetto.hpp"
#include "trace/src/ring.hpp"

namespace nopal::inline NOPAL_ABI::core {

enum class track_kind : std::uint64_t { process = 1, outside, pool, lane, stacks, spans, outside_spans, flow };

/// `pool`: the pool's number in the process, or the number of the addition for tracks that belong to one. Mixed, so that in practice no two
/// are equal: viewers have one space of numbers for all that they show.
inline std::uint64_t track_id(track_kind kind, std::uint64_t pool = 0, std::uint64_t index = 0) noexcept {
  std::uint64_t x = 0x6e6f'7061'6c00'0000;
  for (std::uint64_t const part : {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(kind), pool, index}) {
    x = (x ^ part) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ x >> 29) * 0x94d0'49bb'1331'11eb;
    x ^= x >> 32;
  }
  return x;
}

// The user's spans on tracks of their own: ../README.md, "Spans". Called by timeline.cpp and trace_files.cpp.

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

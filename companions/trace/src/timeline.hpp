#pragma once

// From what was recorded to the bytes of a trace file: Perfetto's format, the tracks, and what is on them. Called by pool_trace.cpp.
// Next: ring.hpp, the events.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nopal/core/compiler/abi.h"
#include "trace/src/ring.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- The format.

// Messages in the wire format of Protocol Buffers, with the four kinds of fields that a trace needs.

/// One message. Each call adds a field, and may throw std::bad_alloc.
class protobuf {
 public:
  /// A field of an integer type or an enumeration.
  protobuf& number(unsigned field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
    return *this;
  }
  /// A field of type fixed64.
  protobuf& fixed(unsigned field, std::uint64_t value) {
    tag(field, 1);
    for (unsigned k = 0; k < sizeof value; ++k) bytes_ += static_cast<char>(value >> 8 * k & 0xff);
    return *this;
  }
  /// A field of type string or bytes.
  protobuf& text(unsigned field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  /// A field that is a message.
  protobuf& message(unsigned field, protobuf const& m) { return text(field, m.bytes_); }

  std::string const& bytes() const noexcept { return bytes_; }

 private:
  void tag(unsigned field, unsigned wire_type) { varint(std::uint64_t{field} << 3 | wire_type); }
  void varint(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes_ += static_cast<char>((v & 0x7f) | 0x80);
    bytes_ += static_cast<char>(v);
  }

  std::string bytes_;
};

// The messages of Perfetto's trace format that we write: tracks (TrackDescriptor) and the events on them (TrackEvent), each in a
// TracePacket. Field numbers are those of protos/perfetto/trace in Perfetto's sources, which never change.

/// What an event says besides its name: shown by the viewer, and in the table `args`.
class trace_notes {
 public:
  trace_notes& number(std::string_view name, std::uint64_t value);
  trace_notes& text(std::string_view name, std::string_view value);
  trace_notes& address(std::string_view name, std::uint64_t value);

 private:
  friend class perfetto_trace;
  protobuf fields_;  // of the TrackEvent
};

/// An arrow from one event to another; 0: none.
struct trace_flow {
  std::uint64_t from_here = 0;
  std::uint64_t to_here = 0;
};

/// Adds packets to a file's bytes. Times are in nanoseconds by the steady clock, in any order. Each function throws std::bad_alloc.
class perfetto_trace {
 public:
  /// `sequence`: a different number for each use in one file.
  perfetto_trace(std::string& file, std::uint32_t sequence) noexcept;

  // ---- Tracks. `id`: unique in the file; `rank`: the place among its siblings.
  void process(std::uint64_t id, int pid, std::string_view name);
  /// `merges`: the viewer shows siblings of one name as one track.
  void track(std::uint64_t id, std::uint64_t parent, std::string_view name, unsigned rank, bool merges = false);
  void counter(std::uint64_t id, std::uint64_t parent, std::string_view name, unsigned rank);

  // ---- Events.
  void begin(std::int64_t time, std::uint64_t track, std::string_view name, trace_notes const& notes = {}, trace_flow flow = {});
  void end(std::int64_t time, std::uint64_t track);
  void instant(std::int64_t time, std::uint64_t track, std::string_view name, trace_notes const& notes = {}, trace_flow flow = {});
  void count(std::int64_t time, std::uint64_t track, std::uint64_t value);

 private:
  void event(std::int64_t time, std::uint64_t type, std::uint64_t track, std::string_view name, trace_notes const& notes, trace_flow flow);
  void packet(protobuf& p);

  std::string& file_;
  std::uint32_t const sequence_;
  std::int64_t const offset_;  // from the steady clock to that of traces
};

// ---- Tracks.

// The numbers of tracks: the same at each addition to the trace of a pool, different for each pool and process.

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

// The user's spans on tracks of their own: ../README.md, "Spans". Called by pool_trace.cpp, too.

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

// ---- Lanes.

// Turns what a pool's workers have recorded into tracks and slices: a lane for each worker, one for threads outside, the spans, and the
// number of native stacks. ../README.md, "From events to slices".

/// What was recorded in one pool.
struct traced_pool {
  std::uint64_t number;  ///< in the process
  std::string name;
  std::vector<trace_copy> lanes;  ///< of each worker
  trace_copy outside;             ///< what threads outside gave to the pool
};

/// Adds it to a file's bytes. `addition`: a different number for each use in one process. Throws std::bad_alloc.
void add_timeline(std::string& file, std::uint32_t addition, traced_pool const& pool);

/// Adds the track of the process, the parent of all others, and returns its number. Throws std::bad_alloc.
std::uint64_t add_process(perfetto_trace& to);

}  // namespace nopal::core

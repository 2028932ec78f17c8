#pragma once

// The messages of Perfetto's trace format that we write: tracks (TrackDescriptor) and the events on them (TrackEvent), each in a
// TracePacket. Field numbers are those of protos/perfetto/trace in Perfetto's sources, which never change. Called by timeline.cpp. Next:
// protobuf.hpp, the wire format.

#include <cstdint>
#include <string>
#include <string_view>

#include "nopal/core/compiler/abi.h"
#include "trace/src/protobuf.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core

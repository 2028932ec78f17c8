#pragma once

// Perfetto's trace format: first messages in the wire format of Protocol Buffers, with the four kinds of fields that a trace needs.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

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
// TracePacket. Field numbers are those of protos/perfetto/trace in Perfetto's sources, which never change. Called by timeline.cpp.

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

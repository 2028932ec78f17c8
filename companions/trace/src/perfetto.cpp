#include "trace/src/perfetto.hpp"

#include <ctime>

#include "nopal/core/base/sync.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

namespace trace_packet {
constexpr unsigned timestamp = 8, sequence = 10, track_event = 11, track_descriptor = 60, in_trace = 1;
}
namespace descriptor {
constexpr unsigned uuid = 1, name = 2, process = 3, parent = 5, counter = 8, child_ordering = 11, rank = 12, merge = 15;
constexpr std::uint64_t by_rank = 3, by_name = 1, never = 2;
}  // namespace descriptor
namespace process_descriptor {
constexpr unsigned pid = 1, name = 6;
}
namespace counter_descriptor {
constexpr unsigned unit = 3;
constexpr std::uint64_t count = 2;
}  // namespace counter_descriptor
namespace track_event {
constexpr unsigned annotation = 4, type = 9, track = 11, category = 22, name = 23, counter_value = 30, flow = 47, ending_flow = 48;
constexpr std::uint64_t slice_begin = 1, slice_end = 2, instant = 3, counter = 4;
}  // namespace track_event
namespace annotation {
constexpr unsigned number = 3, text = 6, pointer = 7, name = 10;
}

// Traces use the clock that also runs while the machine is suspended.
std::int64_t steady_to_boot() noexcept {
  timespec t{};
  std::int64_t const steady = std_sync::now();
  if (::clock_gettime(CLOCK_BOOTTIME, &t) != 0) return 0;
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec - steady;
}

}  // namespace

trace_notes& trace_notes::number(std::string_view name, std::uint64_t value) {
  fields_.message(track_event::annotation, protobuf{}.text(annotation::name, name).number(annotation::number, value));
  return *this;
}
trace_notes& trace_notes::text(std::string_view name, std::string_view value) {
  fields_.message(track_event::annotation, protobuf{}.text(annotation::name, name).text(annotation::text, value));
  return *this;
}
trace_notes& trace_notes::address(std::string_view name, std::uint64_t value) {
  fields_.message(track_event::annotation, protobuf{}.text(annotation::name, name).number(annotation::pointer, value));
  return *this;
}

perfetto_trace::perfetto_trace(std::string& file, std::uint32_t sequence) noexcept
    : file_{file}, sequence_{sequence}, offset_{steady_to_boot()} {}

void perfetto_trace::packet(protobuf& p) {
  p.number(trace_packet::sequence, sequence_);
  file_ += protobuf{}.message(trace_packet::in_trace, p).bytes();
}

void perfetto_trace::process(std::uint64_t id, int pid, std::string_view name) {
  protobuf const about = protobuf{}.number(process_descriptor::pid, static_cast<std::uint64_t>(pid)).text(process_descriptor::name, name);
  packet(protobuf{}.message(
      trace_packet::track_descriptor,
      protobuf{}.number(descriptor::uuid, id).message(descriptor::process, about).number(descriptor::child_ordering, descriptor::by_rank)));
}

void perfetto_trace::track(std::uint64_t id, std::uint64_t parent, std::string_view name, unsigned rank, bool merges) {
  packet(
      protobuf{}.message(trace_packet::track_descriptor, protobuf{}
                                                             .number(descriptor::uuid, id)
                                                             .number(descriptor::parent, parent)
                                                             .text(descriptor::name, name)
                                                             .number(descriptor::child_ordering, descriptor::by_rank)
                                                             .number(descriptor::rank, rank)
                                                             .number(descriptor::merge, merges ? descriptor::by_name : descriptor::never)));
}

void perfetto_trace::counter(std::uint64_t id, std::uint64_t parent, std::string_view name, unsigned rank) {
  protobuf const about = protobuf{}.number(counter_descriptor::unit, counter_descriptor::count);
  packet(protobuf{}.message(trace_packet::track_descriptor, protobuf{}
                                                                .number(descriptor::uuid, id)
                                                                .number(descriptor::parent, parent)
                                                                .text(descriptor::name, name)
                                                                .number(descriptor::rank, rank)
                                                                .message(descriptor::counter, about)));
}

void perfetto_trace::event(std::int64_t time, std::uint64_t type, std::uint64_t track, std::string_view name, trace_notes const& notes,
                           trace_flow flow) {
  protobuf e = notes.fields_;
  e.number(track_event::type, type).number(track_event::track, track);
  if (!name.empty()) e.text(track_event::category, "nopal").text(track_event::name, name);
  if (flow.from_here != 0) e.fixed(track_event::flow, flow.from_here);
  if (flow.to_here != 0) e.fixed(track_event::ending_flow, flow.to_here);
  packet(protobuf{}.number(trace_packet::timestamp, static_cast<std::uint64_t>(time + offset_)).message(trace_packet::track_event, e));
}

void perfetto_trace::begin(std::int64_t time, std::uint64_t track, std::string_view name, trace_notes const& notes, trace_flow flow) {
  event(time, track_event::slice_begin, track, name, notes, flow);
}
void perfetto_trace::end(std::int64_t time, std::uint64_t track) { event(time, track_event::slice_end, track, {}, {}, {}); }
void perfetto_trace::instant(std::int64_t time, std::uint64_t track, std::string_view name, trace_notes const& notes, trace_flow flow) {
  event(time, track_event::instant, track, name, notes, flow);
}

void perfetto_trace::count(std::int64_t time, std::uint64_t track, std::uint64_t value) {
  protobuf const e = protobuf{}
                         .number(track_event::type, track_event::counter)
                         .number(track_event::track, track)
                         .number(track_event::counter_value, value);
  packet(protobuf{}.number(trace_packet::timestamp, static_cast<std::uint64_t>(time + offset_)).message(trace_packet::track_event, e));
}

}  // namespace nopal::core

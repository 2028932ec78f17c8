#include "trace/src/timeline.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <tuple>
#include <utility>

#include "nopal/core/base/sync.hpp"
#include "report/place.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// ---- The format.

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

// ---- Lanes.

constexpr unsigned rank_of_stacks = 1, rank_of_outside = 2, rank_of_lanes = 3;

/// A moment on one lane: an event as it was recorded, or the beginning of a rest. Only the end of a rest is recorded.
struct moment {
  std::int64_t time;
  std::uint32_t lane;
  bool rest_begins;
  trace_event const* event;  // null: the thread still sleeps
};

/// The name of the slice that the event begins; null: it begins none.
char const* name_of_strand(traced kind) noexcept {
  switch (kind) {
    case traced::strand: return "fiber";
    case traced::job: return "job";
    case traced::callers_job: return "job, by its caller";
    case traced::task: return "stolen task";
    case traced::moved_task: return "moved task";
    case traced::branch: return "stolen branch";
    case traced::child: return "child";
    default: return nullptr;
  }
}

/// True if the event at `k` is a `strand`, and the next event says more of it.
bool is_told_again(std::vector<trace_event> const& events, std::size_t k) noexcept {
  if (events[k].kind() != traced::strand || k + 1 == events.size()) return false;
  traced const next = events[k + 1].kind();
  return next == traced::resumed || name_of_strand(next) != nullptr;
}

bool is_rest(traced kind) noexcept { return kind == traced::slept || kind == traced::napped; }

/// All moments of all lanes by time, those of one lane in the order in which they were recorded.
std::vector<moment> in_order(traced_pool const& pool) {
  std::vector<moment> all;
  for (std::uint32_t lane = 0; lane < pool.lanes.size(); ++lane) {
    auto const& events = pool.lanes[lane].events;
    for (std::size_t k = 0; k < events.size(); ++k) {
      if (is_told_again(events, k)) continue;
      if (is_rest(events[k].kind())) all.push_back({static_cast<std::int64_t>(events[k].a), lane, true, &events[k]});
      all.push_back({events[k].time, lane, false, &events[k]});
    }
    if (pool.lanes[lane].asleep_since != 0) all.push_back({pool.lanes[lane].asleep_since, lane, true, nullptr});
  }
  // Equal times: as recorded. The events of one lane are stored in that order, so their addresses compare.
  std::sort(all.begin(), all.end(), [](moment const& x, moment const& y) {
    return std::tuple{x.time, x.lane, x.event, !x.rest_begins} < std::tuple{y.time, y.lane, y.event, !y.rest_begins};
  });
  return all;
}

class drawing {
 public:
  drawing(std::string& file, std::uint32_t addition, traced_pool const& pool)
      : to_{file, addition}, pool_{pool}, addition_{addition}, lanes_(pool.lanes.size()) {}

  void draw() {
    make_tracks();
    for (std::uint32_t k = 0; k < lanes_.size(); ++k) say_dropped(pool_.lanes[k], track_of(k));
    say_dropped(pool_.outside, outside());
    for (moment const& m : in_order(pool_)) at(m);
    for (trace_event const& e : pool_.outside.events) {
      to_.instant(e.time, outside(), e.kind() == traced::submitted ? "job submitted" : "fiber spawned");
    }
    add_spans(to_, pool_track(), track_kind::spans, addition_, spans_.all());
  }

 private:
  struct lane {
    bool strand_open = false;
  };

  std::uint64_t pool_track() const noexcept { return track_id(track_kind::pool, pool_.number); }
  std::uint64_t track_of(std::uint64_t worker) const noexcept { return track_id(track_kind::lane, pool_.number, worker); }
  std::uint64_t outside() const noexcept { return track_id(track_kind::outside, pool_.number); }
  std::uint64_t stacks() const noexcept { return track_id(track_kind::stacks, pool_.number); }

  void make_tracks() {
    std::uint64_t const process = add_process(to_);
    to_.track(pool_track(), process, "pool " + pool_.name, static_cast<unsigned>(pool_.number));
    to_.counter(stacks(), pool_track(), "native stacks", rank_of_stacks);
    to_.track(outside(), pool_track(), "threads outside", rank_of_outside);
    for (std::uint32_t k = 0; k < lanes_.size(); ++k)
      to_.track(track_of(k), pool_track(), "worker " + std::to_string(k), rank_of_lanes + k);
  }

  void say_dropped(trace_copy const& c, std::uint64_t track) {
    if (c.dropped == 0 || c.events.empty()) return;
    to_.instant(c.events.front().time, track, "events dropped", trace_notes{}.number("how_many", c.dropped));
  }

  void begin(moment const& m, std::string const& name, trace_notes const& notes = {}, trace_flow flow = {}) {
    end_strand(m);
    to_.begin(m.time, track_of(m.lane), name, notes, flow);
    lanes_[m.lane].strand_open = true;
  }
  void end_strand(moment const& m) {
    if (std::exchange(lanes_[m.lane].strand_open, false)) to_.end(m.time, track_of(m.lane));
  }
  void instant(moment const& m, std::string const& name, trace_notes const& notes = {}, trace_flow flow = {}) {
    to_.instant(m.time, track_of(m.lane), name, notes, flow);
  }

  // While the thread rests an external caller may work in its place: its strands are drawn within the rest.
  void rest(moment const& m) {
    end_strand(m);
    if (m.rest_begins) {
      to_.begin(m.time, track_of(m.lane), m.event != nullptr && m.event->kind() == traced::napped ? "nap" : "sleep");
    } else {
      to_.end(m.time, track_of(m.lane));
    }
  }

  // A stack waits: an arrow leads from here to the event that resumes it.
  void suspended(moment const& m) {
    trace_event const& e = *m.event;
    std::uint64_t const flow = next_flow();
    left_[e.extra()] = flow;
    trace_notes notes;
    notes.text("waits_for", e.text()).address("stack", e.extra() << stack_bits);
    if (e.b != 0) notes.address("object", e.b);
    instant(m, e.kind() == traced::suspended ? "suspended" : "waits where it is", notes, {flow, 0});
    end_strand(m);
  }
  void resumed(moment const& m) {
    trace_event const& e = *m.event;
    auto const flow = left_.find(e.extra());
    std::string const name = e.text() != nullptr ? std::string{"after "} + e.text() : "function of a scope";
    begin(m, name, trace_notes{}.address("stack", e.extra() << stack_bits), {0, flow != left_.end() ? flow->second : 0});
    if (flow != left_.end()) left_.erase(flow);
  }

  void stole(moment const& m) {
    std::uint64_t const victim = m.event->extra();
    std::uint64_t const flow = next_flow();
    if (victim < lanes_.size()) to_.instant(m.time, track_of(victim), "stolen", trace_notes{}.number("thief", m.lane), {flow, 0});
    instant(m, "steal", trace_notes{}.number("victim", victim).number("thief", m.lane), {0, flow});
  }

  void at(moment const& m) {
    if (m.event == nullptr || is_rest(m.event->kind())) return rest(m);
    trace_event const& e = *m.event;
    switch (e.kind()) {
      case traced::ended: return end_strand(m);
      case traced::resumed: return resumed(m);
      case traced::suspended:
      case traced::stays_waiting: return suspended(m);
      case traced::suspended_task: return instant(m, "suspended", trace_notes{}.text("waits_for", "a join").address("task", e.b));
      case traced::joined: return instant(m, "task resumed", trace_notes{}.address("task", e.b));
      case traced::stole: return stole(m);
      case traced::stacks: return to_.count(m.time, stacks(), e.a);
      case traced::submitted: return instant(m, "job submitted");
      case traced::spawned: return instant(m, "fiber spawned");
      case traced::span_began:
      case traced::span_ended: return spans_.add(e);
      default: break;
    }
    if (char const* const name = name_of_strand(e.kind()); name != nullptr) begin(m, name, about_strand(e));
  }

  trace_notes about_strand(trace_event const& e) {
    trace_notes notes;
    // e.a + 1: code_names takes a return address, and names the function that contains the byte before it.
    if (function_name const& f = code_->name(e.a + 1); f.is_users && !f.text.empty()) notes.text("function", f.text);
    if (e.b != 0) notes.address("task", e.b);
    return notes;
  }

  std::uint64_t next_flow() noexcept { return track_id(track_kind::flow, addition_, ++flows_); }

  static constexpr unsigned stack_bits = 12;

  perfetto_trace to_;
  traced_pool const& pool_;
  std::uint32_t const addition_;
  std::vector<lane> lanes_;
  std::unique_ptr<code_names> const code_ = code_names::make();
  span_pairs spans_;
  std::map<std::uint64_t, std::uint64_t> left_;  // the arrow that begins where this stack was left
  std::uint64_t flows_ = 0;
};

}  // namespace

// ---- The format.

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

// ---- Spans.

void span_pairs::add(trace_event const& e) { parts_.push_back(e); }

std::vector<traced_span> span_pairs::all() const {
  std::map<std::uint64_t, traced_span> spans;
  for (trace_event const& e : parts_) {
    if (e.kind() == traced::span_began) spans.insert({e.b, {e.text(), e.time, traced_span::still_open}});
  }
  for (trace_event const& e : parts_) {
    if (e.kind() != traced::span_ended) continue;
    if (auto const it = spans.find(e.b); it != spans.end()) it->second.end = e.time;
  }
  std::vector<traced_span> result;
  result.reserve(spans.size());
  for (auto const& [id, span] : spans) result.push_back(span);
  return result;
}

void add_spans(perfetto_trace& to, std::uint64_t parent, track_kind kind, std::uint64_t addition, std::vector<traced_span> spans) {
  std::sort(spans.begin(), spans.end(), [](traced_span const& x, traced_span const& y) { return x.begin < y.begin; });
  using free_from = std::pair<std::int64_t, std::uint64_t>;  // when a track's last span ended, and the track
  std::map<std::string_view, std::priority_queue<free_from, std::vector<free_from>, std::greater<>>> tracks;
  std::uint64_t made = 0;
  for (traced_span const& s : spans) {
    auto& of_name = tracks[s.name];
    std::uint64_t track = 0;
    if (of_name.empty() || of_name.top().first > s.begin) {
      track = track_id(kind, addition, made++);
      to.track(track, parent, s.name, 0, true);
    } else {
      track = of_name.top().second;
      of_name.pop();
    }
    of_name.push({s.end, track});
    to.begin(s.begin, track, s.name);
    if (s.end != traced_span::still_open) to.end(s.end, track);
  }
}

// ---- Lanes.

std::uint64_t add_process(perfetto_trace& to) {
  std::uint64_t const id = track_id(track_kind::process);
  to.process(id, ::getpid(), program_invocation_short_name);
  return id;
}

void add_timeline(std::string& file, std::uint32_t addition, traced_pool const& pool) { drawing{file, addition, pool}.draw(); }

}  // namespace nopal::core

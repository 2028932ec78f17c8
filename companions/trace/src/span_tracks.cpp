#include "trace/src/span_tracks.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <utility>

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core

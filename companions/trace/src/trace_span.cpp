#include "nopal/trace_span.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "observe/tell.hpp"
#include "trace/src/pool_trace.hpp"
#include "trace/src/ring.hpp"
#include "trace/src/timeline.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

// ---- Spans of threads that work for no pool.

// Such a thread keeps no pool alive, so these are kept for the whole process, from its first trace on. ../README.md, "Threads outside".

namespace {

// Never freed: any thread may record at any time.
constinit std::atomic<shared_ring*> recorded{nullptr};
constinit std::atomic<bool> environment_was_read{false};
// In the child of a fork: the number of events there that the parent recorded. Under the lock of trace_files, like the next.
constinit std::size_t parents = 0;
// For each span there, by its event's number, whether it was taken.
std::vector<bool>& taken() {
  static auto* const all = new std::vector<bool>;
  return *all;
}

// A span may begin before the first traced pool is made, which turns recording on. If the environment asks for traces, the first span does.
NOPAL_COLD void read_environment() noexcept {
  hold_traces();
  try {
    if (trace_files::by_environment() != nullptr) record_spans_outside();
  } catch (std::bad_alloc const&) {  // these spans are not recorded
  }
  environment_was_read.store(true, std::memory_order_relaxed);  // relaxed: a second read of the environment does no harm
  release_traces();
}

/// A span begins on a thread that works for no pool. Returns its id; 0: nothing is traced. Any thread.
std::uint64_t begin_span_outside(char const* name) noexcept {
  // relaxed: as in read_environment
  if (!environment_was_read.load(std::memory_order_relaxed)) [[unlikely]]
    read_environment();
  shared_ring* const r = recorded.load(std::memory_order_acquire);  // acquire: pairs with the release below, for the ring
  return r != nullptr ? r->record(traced::span_began, name) + 1 : 0;
}

/// `id`: not 0. Any thread.
void end_span_outside(std::uint64_t id) noexcept {
  shared_ring* const r = recorded.load(std::memory_order_acquire);  // acquire: as above
  if (r != nullptr) r->record(traced::span_ended, nullptr, id);
}

}  // namespace

void record_spans_outside() {
  // relaxed: under the lock
  if (recorded.load(std::memory_order_relaxed) == nullptr)
    recorded.store(new shared_ring{tuning::spans_outside}, std::memory_order_release);
}

std::vector<traced_span> take_spans_outside(bool open_ones) {
  shared_ring const* const r = recorded.load(std::memory_order_relaxed);  // relaxed: under the lock, as its store
  if (r == nullptr) return {};
  std::size_t const n = r->size();
  taken().resize(n, false);
  std::unordered_map<std::uint64_t, std::int64_t> ends;
  for (std::size_t k = 0; k < n; ++k) {
    if (trace_event const e = r->at(k); e.kind() == traced::span_ended) ends.insert({e.b, e.time});
  }
  std::vector<traced_span> spans;
  for (std::size_t k = parents; k < n; ++k) {
    trace_event const e = r->at(k);
    if (e.kind() != traced::span_began || taken()[k]) continue;
    auto const end = ends.find(k + 1);
    if (end == ends.end() && !open_ones) continue;
    spans.push_back({e.text(), e.time, end != ends.end() ? end->second : traced_span::still_open});
    taken()[k] = true;
  }
  return spans;
}

void forget_spans_outside() noexcept {
  shared_ring const* const r = recorded.load(std::memory_order_relaxed);  // relaxed: in the child's only thread
  if (r != nullptr) parents = r->size();
}

}  // namespace core

// ---- Spans of any thread.

// Recorded where they begin and end, which may be on two workers. The id says where the span began: on a worker, or outside.

trace_span::trace_span(span_name name) noexcept : id_{0} {
  NOPAL_PROBE2(span_begin, this, name.text());
  if (core::worker* const w = core::current_or_null(); w == nullptr) {
    id_ = core::begin_span_outside(name.text());
  } else if (core::trace_ring* const ring = core::pool_trace::of(*w); ring != nullptr) [[unlikely]] {
    id_ = ring->begin_span(name.text());
  }
}

void trace_span::end() noexcept {
  NOPAL_PROBE1(span_end, this);
  if (!core::trace_ring::is_workers(id_)) return core::end_span_outside(id_);
  core::worker* const w = core::current_or_null();
  core::trace_ring* const ring = w == nullptr ? nullptr : core::pool_trace::of(*w);
  if (ring != nullptr) ring->end_span(id_);
}

}  // namespace nopal

#include "trace/src/pool_trace.hpp"

#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/read_text.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "trace/src/timeline.hpp"
#include "trace/src/trace_files.hpp"

namespace nopal::inline NOPAL_ABI::core {

std::unique_ptr<pool_trace> pool_trace::make(pool_options const& o, unsigned workers) {
  bool const by_environment = o.trace.empty();
  char const* const said = by_environment ? trace_files::by_environment() : o.trace.c_str();
  if (said == nullptr) return nullptr;
  auto const check = [](std::string const& what, bool is_right) {
    if (is_right) return;
    throw std::invalid_argument{"nopal::pool: " + what + " is no number from 1 to " + std::to_string(tuning::most_trace_events) +
                                ", of the events that are kept for each worker; leave it unset for 65536"};
  };
  auto const is_right = [](std::size_t n) { return n != 0 && n <= tuning::most_trace_events; };
  std::size_t events = o.trace_events;
  check("trace_events = " + std::to_string(events), is_right(events));
  if (std::string_view const text = by_environment ? trace_files::events_by_environment() : ""; !text.empty()) {
    bool const is_number = read_all(text, events);
    check("NOPAL_TRACE_EVENTS = \"" + std::string{text} + '"', is_number && is_right(events));
  }
  std::string file = trace_files::named(said);
  trace_files::begin(file, by_environment ? "NOPAL_TRACE" : "pool_options::trace");
  return std::unique_ptr<pool_trace>{new pool_trace{std::move(file), o.name, events, workers}};
}

pool_trace::pool_trace(std::string to, std::string name, std::size_t room, unsigned workers)
    : observer{&kind}, trace_source{std::move(to)}, name_{std::move(name)}, number_{trace_files::next_number()}, outside_{room} {
  for (unsigned i = 0; i < workers; ++i) rings_.push_back(std::make_unique<trace_ring>(room, number_ * (tuning::most_workers + 1) + i));
  trace_files::add(*this);
}

pool_trace::~pool_trace() { trace_files::remove(*this); }

void pool_trace::write() noexcept { trace_files::write(*this); }

trace_ring* pool_trace::of(worker const& w) noexcept {
  auto* const its = w.observed == nullptr ? nullptr : static_cast<pool_trace*>(w.observed->find(&kind));
  return its == nullptr ? nullptr : &its->of(w.index());
}

void pool_trace::comes(brought what, worker* by) noexcept {
  traced const event = what == brought::job ? traced::submitted : traced::spawned;
  if (by != nullptr) return of(by->index()).record(event);
  outside_.record(event);
}

static traced as_traced(strand_kind what) noexcept {
  switch (what) {
    case strand_kind::ready: return traced::strand;
    case strand_kind::job: return traced::job;
    case strand_kind::callers_job: return traced::callers_job;
    case strand_kind::task: return traced::task;
    case strand_kind::moved_task: return traced::moved_task;
    case strand_kind::branch: return traced::branch;
    case strand_kind::child: return traced::child;
  }
  return traced::nothing;
}

void pool_trace::strand_begins(worker& w, strand_kind what, void const* code, void const* object) noexcept {
  of(w.index()).begins(as_traced(what), 0, code, object);
}
void pool_trace::strand_leaves(worker& w, waits_for const& why) noexcept {
  of(w.index()).leaves(traced::suspended, w.here->number(), why.what, why.object);
  of(w.index()).stacks(w.pool().stacks.live());
}
void pool_trace::strand_resumes(worker& w, stack const& s, waits_for const* why) noexcept {
  of(w.index()).begins(traced::resumed, s.number(), why != nullptr ? why->what : nullptr);
}
// Between these two the worker runs other strands on top of `s`.
void pool_trace::waits_on_top(worker& w, stack const& s, waits_for const& why) noexcept {
  of(w.index()).leaves(traced::stays_waiting, s.number(), why.what, why.object);
}
void pool_trace::waited_on_top(worker& w, stack const& s, waits_for const& why) noexcept {
  of(w.index()).begins(traced::resumed, s.number(), why.what);
}
void pool_trace::task_waits(worker& w, frame const* task) noexcept { of(w.index()).record(traced::suspended_task, 0, nullptr, task); }
void pool_trace::task_resumes(worker& w, frame const* task) noexcept { of(w.index()).record(traced::joined, 0, nullptr, task); }
void pool_trace::runs_none(worker& w) noexcept { of(w.index()).searches(); }
void pool_trace::took(worker& w, worker const& victim) noexcept { of(w.index()).record(traced::stole, victim.index()); }

void pool_trace::sleeps(worker& w) noexcept { of(w.index()).rests(); }
// A sleep is recorded at its end, since an external caller may record events during it.
void pool_trace::wakes(worker& w, bool slept) noexcept {
  of(w.index()).gets_up(slept);
  of(w.index()).stacks(w.pool().stacks.live());
}
void pool_trace::naps(worker& w) noexcept { of(w.index()).begins_nap(); }
void pool_trace::napped(worker& w) noexcept { of(w.index()).ends_nap(); }

void pool_trace::append_to(std::string& bytes, std::uint32_t addition) {
  traced_pool all{number_, name_, {}, {}};
  for (auto const& ring : rings_) all.lanes.push_back(ring->take());
  for (std::size_t const n = outside_.size(); outside_taken_ < n; ++outside_taken_) {
    if (trace_event const e = outside_.at(outside_taken_); e.kind() != traced::nothing) all.outside.events.push_back(e);
  }
  all.outside.dropped = outside_.dropped();
  add_timeline(bytes, addition, all);
}

}  // namespace nopal::core

#include "trace/src/pool_trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/open_file.hpp"
#include "base/read_text.hpp"
#include "nopal/core/base/process.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "trace/src/timeline.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constinit std::mutex traces;  // guards all that follows, and the files

struct begun_file {
  std::string name;
  int pipe;  // stays open, since its reader would else see the end of the file; -1: the file is not a pipe
};

struct shared {
  std::vector<begun_file> begun;
  trace_source* live = nullptr;  // the newest first
  std::uint64_t made = 0;        // traces of pools
  std::uint32_t additions = 0;   // to files
  bool writes_at_exit = false;
};
// Never destroyed: pools may end after static objects.
shared& all() {
  static shared* const s = new shared;
  return *s;
}

// Adds the bytes to the end of the file. Returns an error number, or 0.
int append(std::string const& file, std::string const& bytes) noexcept {
  for (begun_file const& b : all().begun) {
    if (b.name == file && b.pipe >= 0) return write_all(b.pipe, bytes);
  }
  int const fd = open_for_writing(file.c_str(), O_APPEND);
  if (fd < 0) return errno;
  int error = write_all(fd, bytes);
  if (::close(fd) != 0 && error == 0) error = errno;
  return error;
}

void say_incomplete(std::string const& file, char const* why) noexcept {
  std::fprintf(stderr, "nopal: the trace %s is not complete: %s; make room, or name another file\n", file.c_str(), why);
  std::fflush(stderr);
}

// Spans of threads outside that have ended, or, if the process ends, all.
void add_spans_outside(std::string& bytes, std::uint32_t addition, bool process_ends) {
  std::vector<traced_span> spans = take_spans_outside(process_ends);
  if (spans.empty()) return;
  perfetto_trace to{bytes, addition};
  std::uint64_t const process = add_process(to);
  add_spans(to, process, track_kind::outside_spans, addition, std::move(spans));
}

}  // namespace

// ---- Files.

char const* trace_files::by_environment() noexcept {
  char const* const file = ::secure_getenv("NOPAL_TRACE");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
  return file != nullptr && *file != '\0' ? file : nullptr;
}

std::string_view trace_files::events_by_environment() noexcept {
  char const* const number = ::secure_getenv("NOPAL_TRACE_EVENTS");  // NOLINT(concurrency-mt-unsafe): as above
  return number != nullptr ? number : "";
}

std::string trace_files::named(std::string const& file) {
  std::size_t const at = file.find("%p");
  if (at == std::string::npos) return file;
  std::string name = file;
  return name.replace(at, 2, std::to_string(::getpid()));
}

void trace_files::begin(std::string const& file, char const* said_by) {
  std::lock_guard const guard{traces};
  auto& begun = all().begun;
  if (std::any_of(begun.begin(), begun.end(), [&](begun_file const& b) { return b.name == file; })) return;
  begun.push_back({file, -1});
  int const fd = open_for_writing(file.c_str(), O_TRUNC);
  if (fd < 0) {
    int const error = errno;
    begun.pop_back();
    std::string text = "nopal::pool: the trace \"";
    text += file;
    text += "\" (from ";
    text += said_by;
    text += ") ";
    text += remedy_for(error);
    throw std::system_error{error, std::generic_category(), text};
  }
  if (is_pipe(fd)) {
    begun.back().pipe = fd;
  } else {
    ::close(fd);
  }
}

// In the child of a fork the parent's pools are not written: the parent writes them.
void trace_files::write_locked(trace_source& t) noexcept {
  if (t.process != process_number) return;
  try {
    std::string bytes;
    std::uint32_t const addition = ++all().additions;
    t.append_to(bytes, addition);
    add_spans_outside(bytes, addition, false);
    if (int const error = append(t.file, bytes); error != 0) say_incomplete(t.file, std::strerror(error));
  } catch (std::bad_alloc const&) {
    say_incomplete(t.file, "there is no memory to write it");
  }
}

void trace_files::write(trace_source& t) noexcept {
  std::lock_guard const guard{traces};
  write_locked(t);
}

std::uint64_t trace_files::next_number() {
  std::lock_guard const guard{traces};
  return ++all().made;
}

void trace_files::add(trace_source& t) {
  std::lock_guard const guard{traces};
  shared& s = all();
  record_spans_outside();
  if (!s.writes_at_exit) s.writes_at_exit = std::atexit([] { at_exit(); }) == 0;
  t.next = s.live;
  s.live = &t;
}

void trace_files::remove(trace_source& t) noexcept {
  std::lock_guard const guard{traces};
  trace_source** it = &all().live;
  while (*it != nullptr && *it != &t) it = &(*it)->next;
  if (*it != nullptr) *it = t.next;
}

// The process ends: pools that still live, such as the default pool, are written while their threads may run.
void trace_files::at_exit() noexcept {
  std::lock_guard const guard{traces};
  shared& s = all();
  for (trace_source* t = s.live; t != nullptr; t = t->next) write_locked(*t);
  if (s.begun.empty()) return;
  try {
    std::string bytes;
    add_spans_outside(bytes, ++s.additions, true);
    if (bytes.empty()) return;
    if (int const error = append(s.begun.back().name, bytes); error != 0) say_incomplete(s.begun.back().name, std::strerror(error));
  } catch (std::bad_alloc const&) {
    say_incomplete(s.begun.back().name, "there is no memory to write it");
  }
}

void hold_traces() noexcept { traces.lock(); }
void release_traces() noexcept { traces.unlock(); }

static constinit fork_hook hook{hold_traces, [](bool in_child) noexcept {
                                  if (in_child) forget_spans_outside();
                                  release_traces();
                                }};
[[gnu::constructor]] static void hold_traces_at_fork() noexcept { call_at_fork(hook); }

// ---- The trace of a pool.

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
  std::string file = absolute_name(trace_files::named(said));
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

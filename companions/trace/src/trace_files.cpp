#include "trace/src/trace_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <vector>

#include "base/open_file.hpp"
#include "nopal/core/base/process.hpp"
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

}  // namespace nopal::core

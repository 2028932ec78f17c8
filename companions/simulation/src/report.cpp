#include "simulation/src/report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <string>
#include <system_error>

#include "base/open_file.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/simulation_report.hpp"
#include "simulation/src/simulation.hpp"

namespace nopal::inline NOPAL_ABI::core {

simulation_report simulation::report() const {
  simulation_report r;  // its memory is allocated without the lock: a worker that waits for its turn may hold malloc's lock
  r.distances = distances_;
  r.steals.resize(distances_.size());
  virtual_time::not_interrupted const me{virtual_time::here()};  // a worker of this machine, or of another, maybe
  std::lock_guard const guard{mutex_};
  r.elapsed = std::chrono::nanoseconds{elapsed_ + (jobs_ != 0 ? last_end_ - began_ : 0)};
  r.workers = static_cast<unsigned>(where_.size());
  r.lost_turns = lost_;
  r.switches = switches_;
  std::int64_t used = used_ + (ticker_ != nullptr ? ticker_->used() : 0);
  for (auto const& w : workers_) {
    if (w->cpu_time != clockid_t{}) used += stopwatch::used(w->cpu_time);
  }
  r.outside = std::max(std::chrono::nanoseconds{}, std::chrono::nanoseconds{stopwatch::used(CLOCK_PROCESS_CPUTIME_ID) - used});
  for (unsigned i = 0; i < r.workers; ++i) {
    auto const& w = workers_[i];
    r.working += std::chrono::nanoseconds{w->spent[working]};
    r.searching += std::chrono::nanoseconds{w->spent[searching]};
    r.waking += std::chrono::nanoseconds{w->spent[waking]};
    r.asleep += std::chrono::nanoseconds{w->spent[asleep]};
    r.disturbed += std::chrono::nanoseconds{w->disturbed.load(std::memory_order_relaxed)};  // relaxed: a sum; the worker may add to it now
    r.wakeups += w->wakeups;
    for (std::size_t k = 0; k < r.steals.size(); ++k) r.steals[k] += w->stolen[k];
  }
  return r;
}

void check_report(simulation_costs const& c) {
  if (c.report.empty()) return;
  int const f = open_for_writing(c.report.c_str(), O_APPEND);
  if (f < 0) {
    int const error = errno;
    throw std::system_error{error, std::generic_category(),
                            "nopal::pool: NOPAL_SIMULATION: the report \"" + c.report + "\" " + remedy_for(error) + ": report=FILE"};
  }
  if (!is_pipe(f)) ::close(f);  // a pipe stays open, since its reader would else see the end of the file
}

void simulation::pool_has_ended() noexcept { report_simulation(*this); }
void simulation::process_ends() noexcept { report_simulation(*this); }

void report_simulation(simulation& s) noexcept try {
  simulation_report const r = s.report();
  if (!s.is_news(r)) return;
  std::string const& file = s.costs().report;
  if (file.empty()) {
    std::fputs(("nopal: simulated " + to_text(r)).c_str(), stderr);
    return;
  }
  int const f = open_for_writing(file.c_str(), O_APPEND);
  int error = f < 0 ? errno : write_all(f, to_json(r) + '\n');
  if (f >= 0 && ::close(f) != 0 && error == 0) error = errno;
  if (error == 0) return;
  std::fprintf(stderr, "nopal: NOPAL_SIMULATION: the report %s cannot be written: %s; make room, or name another file: report=FILE\n",
               file.c_str(), std::strerror(error));
} catch (std::exception const&) {  // no memory for the text
}

}  // namespace nopal::core

// ---- Its texts.

namespace nopal::inline NOPAL_ABI {

namespace {

template <class T>
std::string list(std::vector<T> const& all) {
  std::string text;
  for (T const& one : all) {
    if (!text.empty()) text += ',';
    text += std::to_string(one);
  }
  return text;
}

std::string number(char const* format, double n) {
  char text[64];
  int const length = std::snprintf(text, std::size(text), format, n);
  return {text, static_cast<std::size_t>(length)};
}

std::string milliseconds(std::chrono::nanoseconds t) { return number("%.3f ms", static_cast<double>(t.count()) / 1e6); }

}  // namespace

std::string to_json(simulation_report const& r) {
  std::string text = "{";
  auto const field = [&](char const* name, auto n) {
    text += '"';
    text += name;
    text += "\":";
    text += std::to_string(n);
    text += ',';
  };
  field("workers", r.workers);
  field("elapsed", r.elapsed.count());
  field("working", r.working.count());
  field("searching", r.searching.count());
  field("waking", r.waking.count());
  field("asleep", r.asleep.count());
  field("wakeups", r.wakeups);
  field("disturbed", r.disturbed.count());
  field("outside", r.outside.count());
  field("switches", r.switches);
  field("lost_turns", r.lost_turns);
  text += "\"efficiency\":";
  text += number("%.6g", r.efficiency());
  text += ",\"distances\":[";
  text += list(r.distances);
  text += "],\"steals\":[";
  text += list(r.steals);
  text += "]}";
  return text;
}

std::string to_text(simulation_report const& r) {
  std::string text = std::to_string(r.workers);
  auto const add = [&](char const* what, std::string const& value) {
    text += what;
    text += value;
  };
  add(" workers: T_P = ", milliseconds(r.elapsed));
  add(", work ", milliseconds(r.working));
  add(", ", number("%.2f", r.efficiency() * r.workers));
  add(" workers busy, efficiency ", number("%.3f", r.efficiency()));
  add("\n  searching ", milliseconds(r.searching));
  add(", waking ", milliseconds(r.waking));
  add(" in ", std::to_string(r.wakeups));
  add(" wake-ups, asleep ", milliseconds(r.asleep));
  text += ", summed over the workers\n  steals by distance:";
  for (std::size_t k = 0; k < r.steals.size(); ++k) {
    add(" ", std::to_string(r.distances[k]));
    add(": ", std::to_string(r.steals[k]));
  }
  add("\n  outside the pool ", milliseconds(r.outside));
  text += " of CPU time, which T_P leaves out\n";
  if (r.disturbed > r.working / 20) {
    add("  for ", milliseconds(r.disturbed));
    text += " other programs had the CPU: run it again on a quiet machine\n";
  }
  if (r.lost_turns == 0) return text;
  add("  ", std::to_string(r.lost_turns));
  text += " times a worker waited for another in a way that is not seen here (a lock, a flag): the times are not to be trusted\n";
  return text;
}

}  // namespace nopal

#include "simulation/report.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iterator>
#include <string>

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/pool.hpp"
#include "nopal/simulation.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

simulation_report simulation::report() const {
  std::lock_guard const guard{mutex_};
  simulation_report r;
  r.elapsed = std::chrono::nanoseconds{elapsed_ + (jobs_ != 0 ? last_end_ - began_ : 0)};
  r.workers = static_cast<unsigned>(workers_.size());
  r.distances = distances_;
  r.steals.resize(distances_.size());
  r.lost_turns = lost_;
  r.turns = turns_;
  for (auto const& w : workers_) {
    r.working += std::chrono::nanoseconds{w->spent[working]};
    r.searching += std::chrono::nanoseconds{w->spent[searching]};
    r.waking += std::chrono::nanoseconds{w->spent[waking]};
    r.asleep += std::chrono::nanoseconds{w->spent[asleep]};
    r.wakeups += w->wakeups;
    for (std::size_t k = 0; k < r.steals.size(); ++k) r.steals[k] += w->stolen[k];
  }
  return r;
}

void report_simulation(pool_state const& pool) noexcept try {
  if (pool.simulated == nullptr) return;
  simulation_report const r = pool.simulated->report();
  if (r.elapsed.count() == 0) return;
  std::string const& file = pool.simulated->costs().report;
  if (file.empty()) {
    std::fputs(("nopal: simulated " + to_text(r)).c_str(), stderr);
    return;
  }
  std::FILE* const f = std::fopen(file.c_str(), "a");
  std::string const line = to_json(r) + '\n';
  if (f == nullptr || std::fputs(line.c_str(), f) < 0) {
    std::fprintf(stderr, "nopal: NOPAL_SIMULATION: %s cannot be written; name another file: report=FILE\n", file.c_str());
  }
  if (f != nullptr) std::fclose(f);
} catch (std::exception const&) {  // no memory for the text
}

}  // namespace core

namespace {

template <class T>
std::string list(std::vector<T> const& all) {
  std::string text;
  for (T const& one : all) text += (text.empty() ? "" : ",") + std::to_string(one);
  return text;
}

std::string number(char const* format, double n) {
  char text[64];
  int const length = std::snprintf(text, std::size(text), format, n);
  return {text, static_cast<std::size_t>(length)};
}

std::string milliseconds(std::chrono::nanoseconds t) { return number("%.3f ms", static_cast<double>(t.count()) / 1e6); }

}  // namespace

std::optional<simulation_report> simulated(pool const& p) {
  core::pool_state const& state = p.scheduler_->state();
  if (state.simulated == nullptr) return std::nullopt;
  return state.simulated->report();
}

std::string to_json(simulation_report const& r) {
  auto const field = [](char const* name, auto n) { return std::string{"\""} + name + "\":" + std::to_string(n) + ','; };
  return '{' + field("workers", r.workers) + field("elapsed", r.elapsed.count()) + field("working", r.working.count()) +
         field("searching", r.searching.count()) + field("waking", r.waking.count()) + field("asleep", r.asleep.count()) +
         field("wakeups", r.wakeups) + field("turns", r.turns) + field("lost_turns", r.lost_turns) + "\"efficiency\":" + number("%.6g", r.efficiency()) +
         ",\"distances\":[" + list(r.distances) + "],\"steals\":[" + list(r.steals) + "]}";
}

std::string to_text(simulation_report const& r) {
  std::string text = std::to_string(r.workers) + " workers: T_P = " + milliseconds(r.elapsed) + ", work " + milliseconds(r.working) +
                     ", speed-up " + number("%.2f", r.efficiency() * r.workers) + ", efficiency " + number("%.3f", r.efficiency()) + "\n";
  text += "  searching " + milliseconds(r.searching) + ", waking " + milliseconds(r.waking) + " in " + std::to_string(r.wakeups) +
          " wake-ups, asleep " + milliseconds(r.asleep) + ", summed over the workers\n  steals by distance:";
  for (std::size_t k = 0; k < r.steals.size(); ++k) text += ' ' + std::to_string(r.distances[k]) + ": " + std::to_string(r.steals[k]);
  text += '\n';
  if (r.lost_turns != 0) {
    text += "  " + std::to_string(r.lost_turns) +
            " times a worker waited for another in a way that is not seen here (a lock, a flag): the times are not to be trusted\n";
  }
  return text;
}

void simulate_work(std::chrono::nanoseconds time) noexcept {
  core::worker* const w = core::current_or_null();
  if (w == nullptr || w->pool().simulated == nullptr || w->pool().simulated->costs().measures) return;
  w->pool().simulated->works(w->index(), time.count());
}

}  // namespace nopal

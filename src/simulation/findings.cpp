#include "simulation/findings.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/simulation/simulation.hpp"
#include "nopal/simulation_report.hpp"

namespace nopal::inline NOPAL_ABI::core {

simulation_report simulation::report() const {
  std::lock_guard const guard{mutex_};
  simulation_report r;
  r.elapsed = std::chrono::nanoseconds{elapsed_ + (jobs_ != 0 ? last_end_ - began_ : 0)};
  r.workers = static_cast<unsigned>(workers_.size());
  r.distances = distances_;
  r.steals.resize(distances_.size());
  r.lost_turns = lost_;
  r.switches = switches_;
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

}  // namespace nopal::core

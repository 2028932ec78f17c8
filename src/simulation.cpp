#include "nopal/simulation.hpp"

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/simulation/simulation.hpp"
#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI {

std::optional<simulation_report> simulated(pool const& p) {
  core::simulation const* const its = core::simulation::of(p.scheduler_->state());
  if (its == nullptr) return std::nullopt;
  return its->report();
}

void simulate_work(std::chrono::nanoseconds time) noexcept {
  core::worker* const w = core::current_or_null();
  core::simulation* const its = w == nullptr ? nullptr : core::simulation::of(w->pool());
  if (its != nullptr && !its->costs().measures) its->works(w->index(), time.count());
}

}  // namespace nopal

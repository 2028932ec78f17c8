#include "nopal/simulation.hpp"

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/simulation/simulation.hpp"
#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI {

std::optional<simulation_report> simulated(pool const& p) {
  core::pool_state const& state = p.scheduler_->state();
  if (state.simulated == nullptr) return std::nullopt;
  return state.simulated->report();
}

void simulate_work(std::chrono::nanoseconds time) noexcept {
  core::worker* const w = core::current_or_null();
  if (w == nullptr || w->pool().simulated == nullptr || w->pool().simulated->costs().measures) return;
  w->pool().simulated->works(w->index(), time.count());
}

}  // namespace nopal

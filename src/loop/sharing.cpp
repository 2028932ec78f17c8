#include "nopal/core/loop/sharing.hpp"

#include <cstdlib>

#include "nopal/core/loop/between_blocks.hpp"
#include "nopal/core/loop/loop_tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/pool.hpp"

namespace nopal::core {

namespace {

bool is_worth(double elapsed, double rest, bool thieves_are_awake) noexcept {
  if (thieves_are_awake && rest >= loop_tuning::worth_a_steal()) return true;
  if (elapsed >= loop_tuning::worth_a_steal() && rest >= loop_tuning::worth_a_wake()) return true;
  return elapsed >= loop_tuning::long_enough() && rest >= loop_tuning::long_enough();
}

}  // namespace

bool worth_sharing(double elapsed, double rest) noexcept {
  if (worker* const w = current_or_null(); w != nullptr) {
    pool_state& pool = w->pool();
    if (!pool.steals || pool.size() == 1) return false;
    if (!w->work.empty()) return between_blocks(*w);
    return is_worth(elapsed, rest, pool.parking.somebody_searches());
  }
  pool_state* const pool = default_pool_state_if_any();
  if (pool == nullptr) return rest >= loop_tuning::worth_a_pool();
  return pool->steals && pool->size() > 1 && is_worth(elapsed, rest, pool->parking.somebody_searches());
}

bool shares_by_schedule() noexcept {
  if (worker const* const w = current_or_null(); w != nullptr) return w->pool().control != nullptr;
  if (pool_state const* const pool = default_pool_state_if_any(); pool != nullptr) return pool->control != nullptr;
  static bool const wanted = [] {
    char const* const text = std::getenv("NOPAL_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
    return text != nullptr && *text != '\0';
  }();
  return wanted;
}

}  // namespace nopal::core

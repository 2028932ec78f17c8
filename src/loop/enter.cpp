#include "nopal/core/loop/enter.hpp"

#include "nopal/core/loop/loop_tuning.hpp"
#include "nopal/core/scheduler/external_caller.hpp"
#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI::core {

bool enter_default_pool(void (*what)(void* arg), void* arg, double rest) {
  auto const job = [=] { what(arg); };
  awaited_job<decltype(job) const&> r{job};
  r.pool = &default_pool_state();
  if (rest >= loop_tuning::worth_a_wake()) {
    run_and_wait(*r.pool, r, r.done);
  } else if (!run_if_one_sleeps(*r.pool, r, r.done)) {
    return false;
  }
  r.take();
  return true;
}

}  // namespace nopal::core

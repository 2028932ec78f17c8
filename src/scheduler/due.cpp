#include "nopal/core/scheduler/due.hpp"

#include <algorithm>
#include <chrono>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/timer.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// By the timer's thread, later. A request that came while its worker changed its own limit is lost, and a thief that was to find what is
// due may have found something else. So a worker that has not looked is asked again, less often each time.
void ask_again(void* with) noexcept {
  auto& pool = *static_cast<pool_state*>(with);
  bool any = false;
  for (worker* const w : pool.workers) {
    if (!is_anything_due(*w)) continue;
    w->work.request();
    any = true;
  }
  if (!any) return;
  pool.ask_again_after = std::min(2 * pool.ask_again_after, std::chrono::nanoseconds{tuning::longest_between_requests});
  static_cast<void>(pool.timer.call_after(timer::later::due, pool.ask_again_after, ask_again, &pool));
}

// By the timer's thread, under its mutex.
void ask_later(pool_state& pool) noexcept {
  pool.ask_again_after = std::chrono::nanoseconds{tuning::between_requests};
  pool.timer.call_after_here(timer::later::due, pool.ask_again_after, ask_again, &pool);
}

void inject_due(pool_state& pool, resumable& r, unsigned i) noexcept {
  worker& left_by = *pool.workers[i];
  if (pool.steals) pool.parking.add();  // before the push, as in inject
  left_by.due->push(r);
  if (pool.steals) {
    pool.parking.announce(i);
    pool.naps.end();
    if (!pool.parking.somebody_searches()) {
      for (worker* const w : pool.workers) w->work.request();
    }
  } else if (!pool.parking.notify(i)) {
    left_by.work.request();
  }
  ask_later(pool);
  tell::something_new(pool);
}

void bring_home_due(pool_state& pool, resumable& r, unsigned i) noexcept {
  worker& to = *pool.workers[i];
  to.due_own.push(r);
  pool.parking.call(i);
  pool.naps.end();  // its thread may be the one that naps
  to.work.request();
  ask_later(pool);
  tell::something_new(pool);
}

}  // namespace

bool is_anything_due(worker const& w) noexcept { return !w.due->looks_empty() || !w.due_own.looks_empty(); }

bool take_if_due(pool_state& pool, resumable& r, unsigned left_by, bool home) noexcept {
  if (!pool.timer.is_here()) return false;
  home ? bring_home_due(pool, r, left_by) : inject_due(pool, r, left_by);
  return true;
}

}  // namespace nopal::core

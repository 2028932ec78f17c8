#include "nopal/core/scheduler/event_watch.hpp"

#include <chrono>
#include <utility>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/timer.hpp"

namespace nopal::inline NOPAL_ABI {

event_source::~event_source() = default;

namespace core {

// By the timer's thread. While a worker waits in the source, nothing else need look; that worker asks the timer again when it leaves.
static void look_by_timer(void* with) noexcept {
  auto& pool = *static_cast<pool_state*>(with);
  if (pool.events.somebody_waits()) return;
  pool.events.poll();
  look_at_events_later(pool);
}

void look_at_events(worker& w) noexcept {
  if (w.pool().events.enter()) look_at_entered_events(w);
}

void look_at_entered_events(worker& w) noexcept {
  search_state& s = w.search;
  pool_state& pool = w.pool();
  s.looks_for_events = true;
  pool.events.source()->poll();
  s.looks_for_events = false;
  pool.events.leave();
  if (std::exchange(s.leaves_due, false)) ask_for_due(pool);
}

void look_at_events_later(pool_state& pool) noexcept {
  static_cast<void>(pool.timer.call_after(timer::later::events, std::chrono::nanoseconds{tuning::between_polls}, look_by_timer, &pool));
}

}  // namespace core
}  // namespace nopal

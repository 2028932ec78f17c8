// Lets the pool's timer check again later whether anything can run.

#include "report/stuck.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <new>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/report/report.hpp"
#include "nopal/core/wait/timer.hpp"

namespace nopal::inline NOPAL_ABI::core {

#ifdef NDEBUG
void watch_for_stuck_pool(pool_state&) noexcept {}
#else

namespace {

// True if something waits, and neither visible work, nor a deadline, nor an event will wake it. Other workers may run during the call.
bool nothing_can_run(pool_state const& pool) noexcept {
  if (pool.parking.visible_work() || !pool.timer.idle() || pool.events.source() != nullptr) return false;
  bool some = false;
  for (unsigned i = 0; i < pool.size(); ++i) some = some || pool.parking.is_dozing(i);
  pool.stacks.for_each([&](stack const& s) { some = some || s.waits.load(std::memory_order_relaxed) != nullptr; });  // relaxed: a hint
  return some || !pool.tasks_that_wait.empty();
}

// Called later on the timer's thread, which ends before the pool does. Workers may have woken in the meantime.
void warn_if_stuck(void* with) noexcept {
  auto const& pool = *static_cast<pool_state const*>(with);
  for (unsigned i = 0; i < pool.size(); ++i) {
    if (!pool.parking.is_parked(i) && !pool.parking.is_dozing(i)) return;
  }
  if (!nothing_can_run(pool)) return;
  try {
    std::fprintf(stderr, "nopal: for a second nothing has been able to run, and nothing will unless a thread outside the pool wakes it: %s",
                 report(pool).c_str());
  } catch (std::bad_alloc const&) {
  }
}

}  // namespace

void watch_for_stuck_pool(pool_state& pool) noexcept {
  if (nothing_can_run(pool))
    pool.timer.call_after(timer::later::report, std::chrono::milliseconds{tuning::stuck_after}, warn_if_stuck, &pool);
}
#endif

}  // namespace nopal::core

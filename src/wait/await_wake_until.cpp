#include "nopal/core/wait/await_wake_until.hpp"

#include <algorithm>
#include <exception>

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"

namespace nopal::inline NOPAL_ABI::core {

// The awaited condition does not hold yet. The timer, or a request to stop, may wake `me` as soon as publish starts the entry. The entry's
// end takes the locks of both once more: afterwards neither accesses `me`.
bool await_wake_until(waiter& me, waits_for why, time_point deadline, bool (*publish)(void* with, timer_entry* entry) noexcept,
                      void* with) {
  stop_region* const region = region_of_wait();
  region_deadline const of_region{region};
  deadline = std::min(deadline_here(deadline), of_region.here());
  if (deadline != time_point::max()) why.limit = nanoseconds_of(deadline);
  if (worker* const w = current_or_null(); w != nullptr) {
    timer_entry entry{deadline != time_point::max() ? &w->pool().timer : nullptr, me, deadline, region};
    await_wake(me, why, [&]() noexcept { return publish(with, &entry); });
    if (entry.expired()) of_region.passed(deadline);
    return !entry.expired();
  }
  sleeping_thread const listed{why};
  if (region == nullptr) return thread_awaits_wake_until(me, deadline, [=]() noexcept { return publish(with, nullptr); });
  timer_entry entry{nullptr, me, deadline, region};
  return thread_awaits_wake_until(me, deadline, [&]() noexcept { return publish(with, &entry); }) && !entry.expired();
}

bool sleep_through(time_point until, waits_for why) noexcept try {
  why.limit = nanoseconds_of(until);
  waiter me;
  timer_entry entry{&current()->pool().timer, me, until, nullptr};
  await_wake(me, why, [&]() noexcept {
    entry.start();
    return true;
  });
  return true;
} catch (std::exception const&) {
  return false;
}

}  // namespace nopal::core

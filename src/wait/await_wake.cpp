#include "nopal/core/wait/await_wake.hpp"

#include <algorithm>
#include <exception>

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/job_wait.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"

namespace nopal::inline NOPAL_ABI::core {

void stack_waits::start(timer_entry& e) noexcept { e.start(); }

// The awaited condition does not hold yet. As soon as publish has made `me` known, a waker may wake it, and another worker may resume this
// stack before publish has returned. On return `me` was woken, or was never published.
void await_wake(sleeper& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept {
  if (worker* const w = current_or_null(); w != nullptr) {
    me.thread = nullptr;  // it may have waited before, as a thread
    me.pool = &w->pool();
    me.worker = w->index();
    me.what = w->here;
    me.on_top = nullptr;
    if (waits_on_top(*w, nullptr)) {
      return wait_on_top(why, nullptr, [&](top_wait& t) noexcept {
        me.on_top = &t;
        return publish(with);
      });
    }
    if (suspend(why, false, [=](stack&) noexcept { return !publish(with); })) return;
    // There is no memory for another stack. The worker waits where it is; wait_on_worker suspends this stack once there is memory.
    event done;
    me.thread = &done;
    if (publish(with)) wait_on_worker(*current(), done, why);
    return;
  }
  sleeping_thread const listed{why};
  thread_awaits_wake(me, [=]() noexcept { return publish(with); });
}

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

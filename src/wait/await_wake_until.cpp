#include "nopal/core/wait/await_wake_until.hpp"

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"

namespace nopal::core {

// The awaited condition does not hold yet. The timer may wake `me` from when publish starts the entry. The entry's end takes the timer's
// mutex once more: afterwards the timer does not access `me`.
bool await_wake_until(waiter& me, waits_for why, time_point deadline, bool (*publish)(void* with, timer_entry* entry) noexcept,
                      void* with) {
  why.limit = nanoseconds_of(deadline);
  if (worker* const w = current_or_null(); w != nullptr) {
    timer_entry entry{w->pool().timer, me, deadline};
    await_wake(me, why, [&]() noexcept { return publish(with, &entry); });
    return !entry.expired();
  }
  sleeping_thread const listed{why};
  return thread_awaits_wake_until(me, deadline, [=]() noexcept { return publish(with, nullptr); });
}

}  // namespace nopal::core

#include "nopal/core/wait/await_wake.hpp"

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/wait/job_wait.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"

namespace nopal::core {

void stack_waits::start(timer_entry& e) noexcept { e.start(); }

// Once it is published, whoever makes the awaited thing true may wake `me`, and another worker resume this stack, before the caller of publish
// has returned.
void await_wake(sleeper& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept {
  if (worker* const w = current_or_null(); w != nullptr) {
    me.thread = nullptr;  // it may have waited before
    me.pool = &w->pool();
    me.worker = w->index();
    me.what = w->here;
    if (suspend(why, false, [=](stack&) noexcept { return !publish(with); })) return;
    event done;
    me.thread = &done;
    if (publish(with)) wait_on_worker(*current(), done, why);  // where memory may come back
    return;
  }
  sleeping_thread const listed{why};
  thread_awaits_wake(me, [=]() noexcept { return publish(with); });
}

bool await_wake_until(waiter& me, waits_for why, time_point limit, bool (*publish)(void* with, timer_entry* limit) noexcept, void* with) {
  why.limit = nanoseconds_of(limit);
  if (worker* const w = current_or_null(); w != nullptr) {
    timer_entry entry{w->pool().timer, me, limit};
    await_wake(me, why, [&]() noexcept { return publish(with, &entry); });
    return !entry.expired();
  }
  sleeping_thread const listed{why};
  return thread_awaits_wake_until(me, limit, [=]() noexcept { return publish(with, nullptr); });
}

}  // namespace nopal::core

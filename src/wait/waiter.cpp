#include "nopal/core/wait/waiter.hpp"

#include "wait/sleeping_thread.hpp"

namespace nopal::core {

void park(sleeper& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept {
  if (worker* const w = current_or_null(); w != nullptr) {
    me.thread = nullptr;  // it may have waited before
    me.pool = &w->pool();
    me.worker = w->index();
    me.what = w->here;
    if (worker::suspend(why, false, [=](stack&) noexcept { return !publish(with); })) return;
    event done;
    me.thread = &done;
    if (publish(with)) scheduler::wait_on(*current(), done, why);  // where memory may come back
    return;
  }
  sleeping_thread const listed{why};
  park_thread(me, [=]() noexcept { return publish(with); });
}

bool park_until(waiter& me, waits_for why, time_point limit, bool (*publish)(void* with, timer::ticket* limit) noexcept, void* with) {
  why.limit = nanoseconds_of(limit);
  if (worker* const w = current_or_null(); w != nullptr) {
    timer::ticket ticket{w->pool().timer(), me, limit};
    park(me, why, [&]() noexcept { return publish(with, &ticket); });
    return !ticket.expired();
  }
  sleeping_thread const listed{why};
  return park_thread_until(me, limit, [=]() noexcept { return publish(with, nullptr); });
}

}  // namespace nopal::core

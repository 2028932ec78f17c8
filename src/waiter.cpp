#include "nopal/core/waiter.hpp"

namespace nopal::core {

void park(waiter& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept {
  if (worker* const w = current_or_null(); w != nullptr) {
    me.thread = nullptr;  // it may have waited before
    me.pool = &w->pool();
    me.worker = w->index();
    me.what = w->here;
    if (worker::suspend(why, false, [=](stack&) noexcept { return !publish(with); })) return;
  }
  event done;
  me.thread = &done;
  if (!publish(with)) return;
  if (worker* const w = current_or_null(); w != nullptr) return scheduler::wait_on(*w, done, why);  // where memory may come back
  done.wait();
}

}  // namespace nopal::core

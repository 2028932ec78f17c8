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
  if (publish(with)) done.wait();
}

}  // namespace nopal::core

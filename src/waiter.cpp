#include "nopal/core/waiter.hpp"

namespace nopal::core {

void park(waiter& me, waits_for why, bool (*publish)(void* with) noexcept, void* with) noexcept {
  if (worker* const w = current_or_null(); w != nullptr) {
    struct leaves : worker::departure {
      bool (*publish_it)(void*) noexcept;
      void* with;
    } d;
    me.thread = nullptr;  // it may have waited before
    me.pool = &w->pool();
    me.worker = w->index();
    me.what = w->here;
    d.why = why;
    d.reclaims = false;
    d.publish_it = publish;
    d.with = with;
    d.publish = [](worker::departure& x) noexcept {
      auto& self = static_cast<leaves&>(x);
      return !self.publish_it(self.with);
    };
    if (worker::suspend(d)) return;
  }
  event done;
  me.thread = &done;
  if (publish(with)) done.wait();
}

}  // namespace nopal::core

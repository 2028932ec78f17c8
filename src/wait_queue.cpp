#include "nopal/core/wait_queue.hpp"

#include <chrono>

namespace nopal::core {

bool park_until(waiter& me, waits_for why, time_point limit, bool (*publish)(void* with, timer::ticket* limit) noexcept, void* with) {
  if (worker* const w = current_or_null(); w != nullptr) {
    timer::ticket ticket{w->pool().timer(), me, limit};
    park(me, why, [&]() noexcept { return publish(with, &ticket); });
    return !ticket.expired();
  }
  event woken;
  me.thread = &woken;
  me.timed = true;
  if (!publish(with, nullptr)) return true;
  for (auto now = std::chrono::steady_clock::now(); now < limit; now = std::chrono::steady_clock::now()) {
    if (woken.wait_for(std::chrono::nanoseconds{limit - now}.count())) return true;
  }
  if (me.claim()) return false;
  woken.wait();  // it comes just now
  return true;
}

}  // namespace nopal::core

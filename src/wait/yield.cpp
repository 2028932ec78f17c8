#include "nopal/core/wait/yield.hpp"

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/await_wake.hpp"

namespace nopal::core {

bool yield_stack() noexcept {
  worker* const w = current_or_null();
  if (w == nullptr) return false;
  if (!w->has_more()) return true;
  waiter me;
  await_wake(me, {"its turn, after a yield", nullptr}, [&]() noexcept {
    if (me.thread != nullptr) return false;  // no memory for another stack: the caller did not leave this one, and no worker may resume it
    me.resume_later();
    return true;
  });
  return true;
}

}  // namespace nopal::core

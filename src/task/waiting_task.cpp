#include "nopal/core/task/waiting_task.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/wait/timer.hpp"

namespace nopal::inline NOPAL_ABI::core {

void waiting_task::ready() noexcept { give_to_some_worker(*pool_, *this, left_by_, is_high_); }

static_assert(sizeof(timer_entry) <= 192 && alignof(timer_entry) <= 8);

timer_entry* waiting_task::begin_limit(waiter& me, time_point until, bool unless_asked) {
  me.timed = false;
  limited_ = false;
  if (unless_asked && until == time_point::max() && !wait_may_end_early()) return nullptr;
  stop_region* const region = region_of_wait();
  region_deadline const of_region{region};
  deadline_ = std::min(deadline_here(until), of_region.here());
  ends_region_ = region != nullptr && deadline_ == of_region.here() && deadline_ != region->deadline();
  me.claimed.store(false, std::memory_order_relaxed);  // no other thread knows it
  auto* const e = ::new (static_cast<void*>(limit_))
      timer_entry{deadline_ != time_point::max() ? &current()->pool().timer : nullptr, me, deadline_, region};
  limited_ = true;
  return e;
}

bool waiting_task::end_limit() noexcept {
  if (!std::exchange(limited_, false)) return false;
  auto* const e = std::launder(reinterpret_cast<timer_entry*>(limit_));
  bool const expired = e->expired();
  std::destroy_at(e);  // takes the locks of the timer and of the request: afterwards neither knows the waiter
  if (expired && ends_region_) region_of_wait()->request.make();  // as region_deadline::passed
  return expired;
}

void waiting_task::start(timer_entry* e) noexcept { e->start(); }

}  // namespace nopal::core

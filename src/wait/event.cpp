#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

void event::set() noexcept {
  if (waiter_ == this_thread()) return set_by_waiter();
  basic_event::set();
}
bool event::await(waiting_stack& w) noexcept { return basic_event::await(w); }
void event::wait() noexcept { basic_event::wait(); }
bool event::wait_for(std::int64_t nanoseconds) noexcept { return basic_event::wait_for(nanoseconds); }

}  // namespace nopal::core

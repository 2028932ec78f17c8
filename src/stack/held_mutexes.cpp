#include "nopal/core/stack/held_mutexes.hpp"

#include "nopal/core/base/fatal.hpp"

namespace nopal::inline NOPAL_ABI::core {

void held_mutexes::die_owning(stack const& here, char const* what) const noexcept {
  unsigned const left = here.mutexes - before_;
  die_in(
      nullptr,
      "%s has ended while it owns %u nopal::mutex%s (the last that it locked was at %p), which would belong to whatever runs on its native "
      "stack next; unlock it there, or let a std::lock_guard do it; where one locks and another unlocks, use a nopal::semaphore{1}",
      what, left, left == 1 ? "" : "es", here.last_mutex);
}

}  // namespace nopal::core

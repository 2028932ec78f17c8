// What AddressSanitizer must forget of a stack. Without it this file is empty.

#include "nopal/core/stack/stack.hpp"

#include "nopal/core/base/fatal.hpp"

#if NOPAL_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace nopal::inline NOPAL_ABI::core {

#if NOPAL_ASAN
static void forget(std::byte* from, std::byte* to) noexcept { __asan_unpoison_memory_region(from, static_cast<std::size_t>(to - from)); }

void stack::forget_frames() noexcept { forget(static_cast<std::byte*>(sp), top()); }
void stack::forget_content() noexcept { forget(low(), top()); }
#endif

void held_mutexes::die_owning(stack const& here, char const* what) const noexcept {
  unsigned const left = here.mutexes - before_;
  die_in(
      nullptr,
      "%s has ended while it owns %u nopal::mutex%s (the last that it locked was at %p), which would belong to whatever runs on its native "
      "stack next; unlock it there, or let a std::lock_guard do it; where one locks and another unlocks, use a nopal::semaphore{1}",
      what, left, left == 1 ? "" : "es", here.last_mutex);
}

}  // namespace nopal::core

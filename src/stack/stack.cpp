// What AddressSanitizer must forget of a stack. Without it this file is empty.

#include "nopal/core/stack/stack.hpp"

#if NOPAL_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace nopal::inline NOPAL_ABI::core {

#if NOPAL_ASAN
static void forget(std::byte* from, std::byte* to) noexcept { __asan_unpoison_memory_region(from, static_cast<std::size_t>(to - from)); }

void stack::forget_frames() noexcept { forget(static_cast<std::byte*>(sp), top()); }
void stack::forget_content() noexcept { forget(low(), top()); }
#endif

}  // namespace nopal::core

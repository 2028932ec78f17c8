#pragma once

// Where a task's result goes. Next: promise.hpp, which writes it.

#include <bit>
#include <cassert>
#include <memory>
#include <optional>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// Results that go to their slot in one relaxed store, so that a dropped one may go to a place that others write too. A word is aligned to
/// its size: for two ints side by side compilers would call a library that takes locks.
template <class T>
inline constexpr bool is_word = std::is_trivially_copyable_v<T> && alignof(T) >= sizeof(T) &&
                                (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

/// The optional at `slot` as a task's slot: see `engages`.
template <class T>
NOPAL_INLINE void* engaged_slot(void* slot) noexcept {
  auto& optional = *static_cast<std::optional<T>*>(slot);
  if constexpr (is_word<T>) {
    struct alignas(T) bytes {
      unsigned char all[sizeof(T)]{};
    };
    T& value = optional.emplace(std::bit_cast<T>(bytes{}));
    assert(static_cast<void*>(std::addressof(value)) == slot);
    return std::addressof(value);
  } else {
    optional.reset();
    return slot;
  }
}
/// Such a task failed: the optional is empty again. (A T in it lies where the optional does, as has been asserted.)
template <class T>
NOPAL_COLD void disengage(void* slot) noexcept {
  static_cast<std::optional<T>*>(slot)->reset();
}
}  // namespace nopal::core

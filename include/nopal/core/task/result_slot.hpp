#pragma once

// The slot of a task that nopal did not start: of a task's function that an ordinary function called directly. Any thread may call. Next:
// scheduler/worker.hpp, which gives it to the next task without a parent; stack/stack_overflow.hpp, which explains the fault.

#include <bit>
#include <cassert>
#include <memory>
#include <optional>
#include <type_traits>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The address of constant memory: writing a result there is a fault.
void* place_without_slot() noexcept;
/// True if the address is in that memory.
bool is_without_slot(void const* address) noexcept;

// How a task's result is stored in its slot. Called by the worker that starts the task, and by the one on which it ends. Next: promise.hpp,
// which writes the slot.

/// Results that are stored in their slot by one relaxed store, so that a dropped one may go to a place that others write too. A word is
/// aligned to its size: for two ints side by side compilers would call a library that takes locks.
template <class T>
inline constexpr bool is_word =
    std::is_trivially_copyable_v<T> && alignof(T) >= sizeof(T) && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

/// Prepares the optional at `slot` for a task that starts now, and returns what the task gets as its slot: see `engages`.
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
/// Empties the optional at `slot`, since its task failed. `slot` may be what engaged_slot returned: a T in the optional has the address of
/// the optional, which engaged_slot asserts.
template <class T>
NOPAL_COLD void disengage(void* slot) noexcept {
  static_cast<std::optional<T>*>(slot)->reset();
}

}  // namespace nopal::core

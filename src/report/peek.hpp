#pragma once

// Reads memory that may be gone at any moment: for reports, which copy the stacks of other threads. Next: place.hpp, which walks such
// a copy.

#include <cstddef>
#include <type_traits>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Copies `n` bytes of this process to `to`, as a debugger would. False: some cannot be read, or the system refuses; then the content of
/// `to` has no meaning. If another thread writes at the same time, the copy may be torn: the caller must check afterwards that the memory
/// was at rest. One system call.
bool peek(void* to, void const* from, std::size_t n) noexcept;

/// Copies an object of type T from the address `from`, as above.
template <class T>
bool peek(T& to, void const* from) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return peek(static_cast<void*>(&to), from, sizeof to);
}

}  // namespace nopal::core

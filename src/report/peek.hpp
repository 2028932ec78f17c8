#pragma once

// Reading memory that may be gone at any moment: for reports, which copy what lies on stacks that others run. Next: code_names.hpp, which
// walks such a copy.

#include <cstddef>
#include <type_traits>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Copies `n` bytes of this process to `to`, as a debugger would. False: some cannot be read, or the system refuses; then what lies in `to`
/// has no meaning. What another thread writes meanwhile may be copied in parts: the caller checks afterwards whether it was at rest. One
/// system call.
bool peek(void* to, void const* from, std::size_t n) noexcept;

/// Copies an object of type T from the address `from`, as above.
template <class T>
bool peek(T& to, void const* from) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return peek(static_cast<void*>(&to), from, sizeof to);
}

}  // namespace nopal::core

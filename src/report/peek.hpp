#pragma once

// Reading memory that may be gone at any moment. For reports, which look at other stacks while these run.

#include <cstddef>
#include <type_traits>

namespace nopal::core {

/// Copies `n` bytes of this process, as a debugger would. False: some are not there to be read, or the system does not let us; then what lies
/// in `to` is of no meaning. What another thread writes meanwhile may be copied in parts: the caller asks afterwards whether it was at rest.
bool peek(void* to, void const* from, std::size_t n) noexcept;

template <class T>
bool peek(T& to, void const* from) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return peek(static_cast<void*>(&to), from, sizeof to);
}

}  // namespace nopal::core

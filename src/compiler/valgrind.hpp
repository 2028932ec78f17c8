#pragma once

// Tells Valgrind where native stacks are. Otherwise memcheck takes a switch from one to another for a frame that begins or ends, and
// reports what is above the stack pointer of the stack that was left. Does nothing if this library was compiled without Valgrind's headers,
// or for a processor without its requests. Each request is a few instructions that do nothing outside Valgrind. docs/valgrind.md. For
// stack_pool.cpp.

#include <cstddef>

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define NOPAL_VALGRIND 1
#endif
#endif
#ifndef NOPAL_VALGRIND
#define NOPAL_VALGRIND 0
#endif

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

#if NOPAL_VALGRIND

/// The memory of a native stack was mapped. Returns the argument of valgrind_forgets.
inline unsigned valgrind_learns(std::byte* low, std::byte* top) noexcept {
  return static_cast<unsigned>(VALGRIND_STACK_REGISTER(low, top));
}
/// The memory of a native stack is about to be unmapped.
inline void valgrind_forgets(unsigned id) noexcept { VALGRIND_STACK_DEREGISTER(id); }
/// The library uses a part of a native stack that nothing runs on, below where its stack pointer was: the high-water mark.
inline void valgrind_lets_use(std::byte* from, std::size_t bytes) noexcept { VALGRIND_MAKE_MEM_DEFINED(from, bytes); }

#else

inline unsigned valgrind_learns(std::byte*, std::byte*) noexcept { return 0; }
inline void valgrind_forgets(unsigned) noexcept {}
inline void valgrind_lets_use(std::byte*, std::size_t) noexcept {}

#endif

}  // namespace nopal::core

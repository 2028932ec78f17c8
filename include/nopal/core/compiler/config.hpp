#pragma once

// The only macros of nopal, and the constants that more than one file needs. Every public header includes it before anything else, so that
// the first line a compiler says is the one that helps.

#if !defined(__cpp_impl_coroutine) || __cplusplus < 202002L
#error "nopal needs C++20: compile with -std=c++20 (in CMake: target_compile_features(<target> PRIVATE cxx_std_20)), with GCC 12 or Clang 16 or newer"
#endif

#include "nopal/core/compiler/sanitizers.h"

#include <cstddef>
#include <exception>

/// Inlined whatever the optimiser thinks: the fork path.
#define NOPAL_INLINE [[gnu::always_inline]] inline
/// On a coroutine's type: its frame is destroyed where it has ended, and nowhere else. A Clang that knows this writes less code.
#if defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::coro_only_destroy_when_complete)
#define NOPAL_ENDS_BEFORE_IT_GOES [[clang::coro_only_destroy_when_complete]]
#endif
#endif
#ifndef NOPAL_ENDS_BEFORE_IT_GOES
#define NOPAL_ENDS_BEFORE_IT_GOES
#endif

/// Kept out of line and away from the hot code: stealing, sleeping, growing, errors.
#define NOPAL_COLD [[gnu::noinline, gnu::cold]]

/// What a program sees of a shared library that is built with everything else hidden, and what its copies in one process share.
#define NOPAL_API [[gnu::visibility("default")]]

// Where the thread words lie is known when linking a program that holds them. In a shared library, and where nopal is one (NOPAL_SHARED), the
// loader knows it, and says so in one word: an instruction more where that is not kept.
#if defined(NOPAL_SHARED) || (defined(__PIC__) && !defined(__PIE__))
#define NOPAL_TLS_BY_OFFSET 1
#else
#define NOPAL_TLS_BY_OFFSET 0
#endif

namespace nopal::core {

/// What two threads write must lie this far apart: the adjacent-line prefetcher fetches pairs of 64-byte lines.
inline constexpr std::size_t destructive_size = 128;

/// Ends the program with one line on stderr, which also names the program's function that has called here, where that can be known. For misuse
/// that can be neither refused at compile time nor thrown.
NOPAL_API [[noreturn]] NOPAL_COLD void die(char const* what) noexcept;
/// The same, of what printf would make of it. `function`: it was this one, or null.
NOPAL_API [[noreturn, gnu::format(printf, 2, 3)]] NOPAL_COLD void die_in(void const* function, char const* format, ...) noexcept;

/// What an exception says, valid as long as `e` lives.
NOPAL_API NOPAL_COLD char const* words_of(std::exception_ptr const& e) noexcept;

}  // namespace nopal::core

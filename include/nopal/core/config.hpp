#pragma once

// The only macros of nopal, and the constants that more than one file needs.

#include <cstddef>
#include <exception>

/// Inlined whatever the optimiser thinks: the fork path.
#define NOPAL_INLINE [[gnu::always_inline]] inline
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

#if defined(__SANITIZE_ADDRESS__)
#define NOPAL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NOPAL_ASAN 1
#endif
#endif
#ifndef NOPAL_ASAN
#define NOPAL_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define NOPAL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOPAL_TSAN 1
#endif
#endif
#ifndef NOPAL_TSAN
#define NOPAL_TSAN 0
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

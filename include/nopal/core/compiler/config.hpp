#pragma once

// The only macros of nopal. Every public header includes it before anything else, so that
// the first line a compiler says is the one that helps.

#if !defined(__cpp_impl_coroutine) || __cplusplus < 202002L
#error "nopal needs C++20: compile with -std=c++20 (in CMake: target_compile_features(<target> PRIVATE cxx_std_20)), with GCC 12 or Clang 16 or newer"
#endif

#include "nopal/core/compiler/sanitizers.h"

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

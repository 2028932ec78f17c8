#pragma once

// The macros of nopal, with those of abi.h and sanitizers.h; ../../version.hpp has the version's. Every public header includes it before
// anything else, so that the first message of a wrong compiler is the one that helps. Next: abi.h, sanitizers.h, ../task/promise.hpp.

#if !defined(__cpp_impl_coroutine) || __cplusplus < 202002L
#error \
    "nopal needs C++20: compile with -std=c++20 (in CMake: target_compile_features(<target> PRIVATE cxx_std_20)), with GCC 12 or Clang 16 or newer"
#include <nopal needs C++20>  // No file: a compiler ends here, and hides no message behind a hundred others.
#endif

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/sanitizers.h"

/// Always inlined: code on the fork path.
#define NOPAL_INLINE [[gnu::always_inline]] inline
/// On await_suspend, during which another worker may resume the coroutine: the calls in it run on the native stack alone. Inlined, but not
/// by Clang before 19, which treats code inlined there as part of the coroutine, so that variables may be in the frame that another worker
/// has.
#if defined(__clang__) && __clang_major__ < 19
#define NOPAL_SUSPENDS [[gnu::noinline]]
#else
#define NOPAL_SUSPENDS NOPAL_INLINE
#endif
/// On a coroutine's type: its frame is destroyed when it has ended, and nowhere else. A Clang that knows this emits less code.
#if defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::coro_only_destroy_when_complete)
#define NOPAL_ENDS_BEFORE_IT_GOES [[clang::coro_only_destroy_when_complete]]
#endif
#endif
#ifndef NOPAL_ENDS_BEFORE_IT_GOES
#define NOPAL_ENDS_BEFORE_IT_GOES
#endif

/// On names that the next version removes: `remedy` says what to write. In this version only a program that defines NOPAL_WARN_DEPRECATED
/// gets the warning.
#if defined(NOPAL_WARN_DEPRECATED)
#define NOPAL_DEPRECATED(remedy) [[deprecated(remedy)]]
#else
#define NOPAL_DEPRECATED(remedy)
#endif

/// On a parameter that a function returns by reference: a compiler that knows this warns of a reference that outlives it.
#if defined(__clang__)
#define NOPAL_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define NOPAL_LIFETIMEBOUND
#endif

/// Kept out of line and away from the hot code: stealing, sleeping, growing, errors.
#define NOPAL_COLD [[gnu::noinline, gnu::cold]]

/// Visible to programs if nopal is a shared library, which hides all else; also what all copies of nopal in one process share.
#define NOPAL_API [[gnu::visibility("default")]]

// How code finds the thread words (architecture/thread_words.hpp). 0: their distance from the thread register is known when a program that
// holds them is linked. 1: only the loader knows it, in a shared library or if nopal is one (NOPAL_SHARED), and stores it in one word;
// reading that is an instruction more, unless the compiler keeps it.
#if defined(NOPAL_SHARED) || (defined(__PIC__) && !defined(__PIE__))
#define NOPAL_TLS_BY_OFFSET 1
#else
#define NOPAL_TLS_BY_OFFSET 0
#endif

// A file that is compiled with NOPAL_PROFILE measures work and span: companions/profile/README.md. What differs in its headers is
// NOPAL_PROFILED, and so has another name for the linker than elsewhere: the library, which is one for both kinds of files, has these
// templates without it.
#if defined(NOPAL_PROFILE)
#define NOPAL_PROFILES 1
#define NOPAL_PROFILED [[gnu::abi_tag("profiled")]]
#else
#define NOPAL_PROFILES 0
#define NOPAL_PROFILED
#endif

// All files of a program are of one kind: unmeasured forks would make the numbers of the others depend on steals, and a class that has a
// scope would have two layouts. So each object defines one byte, a thread's own with NOPAL_PROFILE and the program's without, which is
// never read. No linker accepts one name for both: it refuses, and prints this name and the two files. NOPAL_IN_LIBRARY: compiled into the
// library, which has nothing of its own to measure.
#if !defined(NOPAL_IN_LIBRARY)
#define NOPAL_SAME_PROFILE nopal_all_files_of_a_program_must_be_compiled_with_NOPAL_PROFILE_or_all_without
extern "C" {
#if NOPAL_PROFILES
extern __thread char NOPAL_SAME_PROFILE;
__attribute__((used, weak, visibility("default"))) __thread char NOPAL_SAME_PROFILE = 0;
#else
extern char NOPAL_SAME_PROFILE;
__attribute__((used, weak, visibility("default"))) char NOPAL_SAME_PROFILE = 0;  // NOLINT(misc-definitions-in-headers)
#endif
}
#endif

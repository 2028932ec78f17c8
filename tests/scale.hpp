#pragma once

// How much a test does: less under a sanitizer, where everything is slower. And what it cannot do under an emulator.

#include <cstdlib>
#include <string>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define NOPAL_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define NOPAL_TEST_SANITIZED 1
#endif
#endif

namespace test {

#ifdef NOPAL_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// True if an emulator of another machine runs this. Its own mappings and limits are then what the system sees.
inline bool emulated() { return std::getenv("NOPAL_TEST_EMULATED") != nullptr; }

/// How a death test starts its process. Under an emulator a program cannot start itself again.
inline char const* death_test_style() { return emulated() ? "fast" : "threadsafe"; }

/// For a death test of a misuse that is also a data race: its process, which is started after this, gets no reports of races from
/// ThreadSanitizer, which might end it before nopal does.
inline void races_are_not_reported() {
  char const* const before = std::getenv("TSAN_OPTIONS");
  ::setenv("TSAN_OPTIONS", ((before != nullptr ? std::string{before} + ":" : std::string{}) + "report_bugs=0").c_str(), 1);
}

/// `n`, or the `part`th of it under a sanitizer.
constexpr long scaled(long n, long part = 20) { return sanitized ? n / part : n; }

}  // namespace test

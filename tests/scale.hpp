#pragma once

// How much a test does: less under a sanitizer, where everything is slower.

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

/// `n`, or the `part`th of it under a sanitizer.
constexpr long scaled(long n, long part = 20) { return sanitized ? n / part : n; }

}  // namespace test

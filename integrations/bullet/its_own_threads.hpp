#pragma once

// Whether the tests run Bullet's own threads, too.

namespace test {

/// Not with ThreadSanitizer, which sees races between them.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool runs_its_own_threads = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool runs_its_own_threads = false;
#else
inline constexpr bool runs_its_own_threads = true;
#endif
#else
inline constexpr bool runs_its_own_threads = true;
#endif

}  // namespace test

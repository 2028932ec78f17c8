#pragma once

// The aligned nothrow operator new of the test program, which nopal takes its stacklets from: it counts, and a test can make it fail.

#if defined(__SANITIZE_THREAD__)
#define TEST_KEEPS_OPERATOR_NEW 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_KEEPS_OPERATOR_NEW 1  // it does not let a program replace operator new: nothing is counted or refused
#endif
#endif

namespace test {

/// From now on such allocations fail, in all threads.
void fail_nothrow_allocations(bool fail);

/// The same for this thread only, and the number that this thread has made.
inline thread_local bool memory_is_out = false;
inline thread_local long blocks_made = 0;

}  // namespace test

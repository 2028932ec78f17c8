#pragma once

// The thread that runs the caller now. Compilers assume that a function stays on one thread: they merge two calls of
// std::this_thread::get_id(), and a test that compares the two cannot fail.

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace test {

/// The kernel's number of the calling thread, read again each time.
inline pid_t this_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

}  // namespace test

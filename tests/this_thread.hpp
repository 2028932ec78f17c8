#pragma once

// Which thread runs the caller now. Compilers take it that a function stays on one thread: of two calls of std::this_thread::get_id() they make
// one, and a test that compares the two cannot fail.

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace test {

/// The kernel's number of the thread that calls, asked anew each time.
inline pid_t this_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

}  // namespace test

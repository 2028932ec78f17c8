#pragma once

// Which process of a line of forks this is. A child of fork() has the memory of its parent and none of its threads: so code that waits for
// a thread first asks whether that is in this process. Next: ../scheduler/scheduler.hpp, which counts, and calls the hooks.

#include <atomic>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// 1; in each child of a fork one more than in its parent. Written by the only thread of a new child, before any other of its threads
/// begins, so that every thread may read it.
[[gnu::visibility("hidden")]] extern constinit unsigned process_number;

/// What a part of the library does when the process forks: `before` takes its locks, and `after` releases them, in the parent and the
/// child.
struct fork_hook {
  void (*before)() noexcept;
  void (*after)(bool in_child) noexcept;
  fork_hook* next = nullptr;
};
/// From now on each fork calls the hook, after it has taken the library's own locks. `h` lives as long as the process. Any thread.
NOPAL_API void call_at_fork(fork_hook& h) noexcept;
/// By the thread that forks.
void call_fork_hooks_before() noexcept;
void call_fork_hooks_after(bool in_child) noexcept;

// Whether the process is about to end, by exit or since main has returned. Then static objects are destroyed while fibers and jobs still
// use them, which is no mistake of the program: no thread waits for them. Any thread. Next: fatal.hpp, which asks.

/// True if the calling thread has called exit, and runs functions that were given to atexit, or destructors of static objects. False if
/// that cannot be found out. Walks the stack.
bool is_in_exit() noexcept;

// The shared object that holds nopal's code is never unloaded once it has made a pool. Callers' threads keep a thread key of it, the
// program may call its signal handlers, and the threads of the default pool run in it. Called by ../scheduler/scheduler.hpp. This is a side
// path: nothing comes after it.

/// Keeps the object that holds this code for the life of the process, also when its last handle is closed. Does nothing if that object is
/// the program itself, or in a program that is linked statically. Not under a lock: it takes the loader's, and a thread that holds the
/// loader's lock may make a pool.
void stay_loaded() noexcept;

}  // namespace nopal::core

#pragma once

// Which process of a line of forks this is. A child of fork() has the memory of its parent and none of its threads: so code that waits for
// a thread first asks whether that is in this process. Next: ../scheduler/process.hpp, which counts, and calls the hooks.

#include <atomic>

#include "nopal/core/compiler/abi.h"

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
/// From now on each fork calls the hook. `h` lives as long as the process. Any thread.
void call_at_fork(fork_hook& h) noexcept;
/// By the thread that forks.
void call_fork_hooks_before() noexcept;
void call_fork_hooks_after(bool in_child) noexcept;

}  // namespace nopal::core

#pragma once

// Waiting for the first of several things, as it ships. A watch is in the queue of each of them, among ordinary waiters, and tells the
// watcher, on which the caller waits. README.md, "Waiting for one of several". By the waiter. Next: ../../select.hpp, ../../when_any.hpp.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_watcher.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A request to stop ends its wait too.
class NOPAL_API watcher : public basic_watcher<timed_stack_waits> {
 public:
  /// Waits until a watch was woken, until `deadline`, or until a request to stop. False: no watch was woken first. Throws std::bad_alloc,
  /// std::system_error. Once.
  bool wait(time_point deadline, char const* what);
};

template <class Node>
struct watch : basic_watch<Node, watcher> {};

}  // namespace nopal::core

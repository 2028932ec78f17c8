#pragma once

// Waiting for the first of several things. A watch stands in the queue of each of them, beside ordinary waiters, and tells the watcher, on which
// the caller waits. README.md, "Waiting for one of several". By the waiter. Next: ../../select.hpp, ../../when_any.hpp.

#include <atomic>
#include <cstddef>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/await_wake_until.hpp"
#include "nopal/core/wait/basic_semaphore.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What the caller waits on: a permit for each watch that was woken. It lies in the waiting frame.
class NOPAL_API watcher {
 public:
  watcher() noexcept : told_{0} {}
  watcher(watcher const&) = delete;
  watcher& operator=(watcher const&) = delete;
  ~watcher() = default;

  /// Waits until a watch was woken, but no longer than until `deadline`, or a request to stop. False: that was first. Throws std::bad_alloc,
  /// std::system_error. Once.
  bool wait(time_point deadline, char const* what);
  /// Waits for those who have claimed `n` watches in all, and may be about to wake them. Afterwards none of them knows the watcher.
  void absorb(std::size_t n) noexcept;
  /// By whoever wakes a watch: the last access of it.
  void tell() noexcept;

 private:
  basic_semaphore<timed_stack_waits> told_;
  std::size_t absorbed_ = 0;
};

/// `Node` is a waiter in the queue of one thing. It counts as one with a time limit: both the waker and the caller claim it.
template <class Node>
struct watch : Node {
  watcher* by = nullptr;
  watch() noexcept {
    this->timed = true;
    this->told = [](waiting_stack& me) noexcept { static_cast<watch&>(me).by->tell(); };
  }
  /// It is about to enter a queue, perhaps once more, for `w`. relaxed: nobody knows it.
  Node& begin(watcher& w) noexcept {
    by = &w;
    this->claimed.store(false, std::memory_order_relaxed);
    return *this;
  }
};

}  // namespace nopal::core

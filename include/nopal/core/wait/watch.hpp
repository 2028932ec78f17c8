#pragma once

// A waiter for the first of several things: it waits for a permit, which each watch that is woken releases. README.md, "Waiting for one of
// several". By the waiter, but for tell. Below: what ships.

#include <cstddef>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_semaphore.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// It is in the waiting frame.
template <class Waits>
class basic_watcher {
 public:
  basic_watcher() noexcept : told_{0} {}
  basic_watcher(basic_watcher const&) = delete;
  basic_watcher& operator=(basic_watcher const&) = delete;

  /// Waits until a watch was woken. Once.
  void wait(char const* what) noexcept {
    told_.acquire_slowly(what);  // which first tests for a permit
    ++absorbed_;
  }
  /// As wait, until `deadline`. False: that was first. Throws std::bad_alloc, std::system_error.
  bool wait_until(typename Waits::time_point deadline, char const* what) {
    bool const woken = told_.acquire_until(deadline, what);
    if (woken) ++absorbed_;
    return woken;
  }
  /// Waits for the wakers that have claimed `n` watches in all, and may be about to wake them. Afterwards none of them knows the watcher.
  void absorb(std::size_t n) noexcept {
    for (; absorbed_ < n; ++absorbed_) told_.acquire_slowly();
  }
  /// By the thread that wakes a watch: the last access of it.
  void tell() noexcept {
    if (std::ptrdiff_t before; !told_.release_if_quiet(1)) told_.release_slowly(1, before);
  }

 private:
  basic_semaphore<Waits> told_;
  std::size_t absorbed_ = 0;
};

/// `Node` is a waiter in the queue of one thing. A watch counts as a waiter with a time limit: both the waker and the caller claim it.
template <class Node, class Watcher>
struct basic_watch : Node {
  Watcher* by = nullptr;
  basic_watch() noexcept {
    this->timed = true;
    this->told = [](auto& me) noexcept { static_cast<basic_watch&>(me).by->tell(); };
  }
  /// It is about to enter a queue, perhaps once more, for `w`. relaxed: no other thread knows it.
  Node& begin(Watcher& w) noexcept {
    by = &w;
    this->claimed.store(false, std::memory_order_relaxed);
    return *this;
  }
};

// Waiting for the first of several things, as it ships. A watch is in the queue of each of them, among ordinary waiters, and tells the
// watcher, on which the caller waits. README.md, "Waiting for one of several". By the waiter. Next: ../../select.hpp, ../../when_any.hpp.

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

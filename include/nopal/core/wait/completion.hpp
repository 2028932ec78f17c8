#pragma once

// The end of a submitted job. It happens once, and futures wait for it: any number of stacks and threads, with time limits and without.
// Stacks of workers wait at a counter of one: README.md, "A counter". Threads that work for no pool wait at an event, which is one exchange
// where a counter has a list and a lock. Next: ../../future.hpp.

#include <cstddef>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/basic_semaphore.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::inline NOPAL_ABI::core {

class NOPAL_API completion {
 public:
  /// True if the job has ended. Once true it stays so. The event's acquire pairs with set, for the result. Any thread.
  bool is_set() const noexcept { return for_threads_.is_set(); }
  /// Wakes every waiter, in O(waiters). Once, by the job's end. This is not its last access: the job keeps the completion alive until set
  /// returns.
  void set() noexcept;
  /// Waits: a worker suspends the stack, a thread that works for no pool sleeps. Any thread. Throws nopal::stopped; in a region with a
  /// deadline also what wait_until throws.
  void wait();
  /// As wait, until `deadline`. False: that expired first. Throws nopal::stopped, std::bad_alloc, std::system_error.
  bool wait_until(time_point deadline);

  using watched = basic_counter<timed_stack_waits>::waiter;
  /// Enters `w`, which set wakes. False: it is set. Any thread.
  bool watch(watched& w) noexcept { return for_stacks_.watch(w); }
  /// Takes `w` out. False: set wakes it, or has.
  bool unwatch(watched& w) noexcept { return for_stacks_.unwatch(w); }

 private:
  event for_threads_;  // set first
  basic_counter<timed_stack_waits> for_stacks_{1};
};

/// Throws std::logic_error: an operation, `what`, was called on a future without a result.
NOPAL_API [[noreturn]] NOPAL_COLD void throw_empty_future(char const* what);

// A waiter for the first of several things: it waits for a permit, which each watch that is woken releases. README.md, "Waiting for one of
// several". By the waiter, but for tell. Below: what ships.

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

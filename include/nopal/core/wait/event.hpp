#pragma once

// The event: it happens once, and whoever waits for it may be stacks that were left and threads that sleep. README.md, "Stacks", says why
// the one who sets it never touches what may be gone. Next: scheduler/root.hpp, a job, whose end is one.

#include <cstdint>

#include "nopal/core/architecture/thread_words.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/waiting_stack.hpp"

namespace nopal::core {

/// `Stack` has resume(), and `next` to link those that wait. The event must outlive neither: set() touches nothing after the waiter may
/// have left.
template <class Sync, class Stack>
class basic_event {
 public:
  bool is_set() const noexcept { return state_.load(std::memory_order_acquire) == set_; }  // acquire: pairs with set

  void set() noexcept {
    // acquire: pairs with await, for the stacks that wait. Who finds it closed waits for the state.
    Stack* waiting = suspended_.exchange(closed(), std::memory_order_acquire);
    // release: pairs with is_set and wait_for, for the result; the exchange is the last access, the wake-up uses the address only
    if (state_.exchange(set_, std::memory_order_release) == awaited_) Sync::wake_all(state_);
    while (waiting != nullptr) {
      Stack& w = *waiting;
      waiting = static_cast<Stack*>(w.next);  // read before it may go on
      w.resume();
    }
  }
  /// Sets it, by the only one that will wait for it. relaxed: it tells nobody.
  void set_by_waiter() noexcept { state_.store(set_, std::memory_order_relaxed); }

  /// `w`, whose stack nobody runs any more, goes on once this is set. False: it is set.
  bool await(Stack& w) noexcept {
    Stack* first = suspended_.load(std::memory_order_relaxed);  // relaxed, here and below: nobody follows it
    do {
      if (first == closed()) {
        while (!is_set()) Sync::yield();  // the setter's last access is yet to come
        return false;
      }
      w.next = first;
      // release: pairs with set, for the stack and the job
    } while (!suspended_.compare_exchange_weak(first, &w, std::memory_order_release, std::memory_order_relaxed));
    return true;
  }

  /// The thread sleeps.
  void wait() noexcept {
    while (!is_set()) wait_for(1'000'000'000);
  }
  /// Until set, or for `nanoseconds`. True: set.
  bool wait_for(std::int64_t nanoseconds) noexcept {
    std::uint32_t s = clear_;
    // acquire, where it is set: pairs with set
    if (!state_.compare_exchange_strong(s, awaited_, std::memory_order_relaxed, std::memory_order_acquire) && s == set_) return true;
    Sync::wait_for(state_, awaited_, nanoseconds);
    return is_set();
  }

 private:
  static constexpr std::uint32_t clear_ = 0, awaited_ = 1, set_ = 2;
  Stack* closed() noexcept { return reinterpret_cast<Stack*>(this); }  // no stack lies here

  typename Sync::template atomic<std::uint32_t> state_{clear_};
  typename Sync::template atomic<Stack*> suspended_{nullptr};  // linked by next; or closed()
};

/// The event of a job.
class NOPAL_API event : private basic_event<std_sync, waiting_stack> {
 public:
  /// Only the calling thread, which works for no pool, will wait: it then needs no read-modify-write to set it itself. Before anyone else
  /// knows of the event. Only inside the library: in a header a compiler might keep the thread's address while a worker's stack is resumed
  /// by another thread.
  void only_this_thread_waits() noexcept { waiter_ = this_thread(); }

  using basic_event::is_set;
  void set() noexcept;
  bool await(waiting_stack& w) noexcept;
  void wait() noexcept;
  bool wait_for(std::int64_t nanoseconds) noexcept;

 private:
  std::uintptr_t waiter_ = 0;  // an address that is that thread's own
};

}  // namespace nopal::core

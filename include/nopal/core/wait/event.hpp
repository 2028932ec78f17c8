#pragma once

// A native stack that waits. It is entered in the queue of what it waits for, and is in the waiting frame, so that no queue needs memory of
// its own. Any thread may resume it, once. Next: below, the event, whose queues hold it; src/wait/event.cpp, how a worker gets it.

#include <cstdint>

#include "nopal/core/architecture/thread_words.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;
class stack;
class top_wait;
class worker;

/// The waiter sets the fields before it leaves its stack. Its waker calls resume() once; afterwards it may be gone.
struct waiting_stack : resumable {
  stack* what = nullptr;
  pool_state* pool = nullptr;
  unsigned worker = 0;         ///< the index of the worker that left the stack
  top_wait* on_top = nullptr;  ///< the stack was not left: its thread waits on top of it
  bool for_job = false;        ///< waits for a job that it began: what the job has forked descends from the stack's frames

  /// Not null: this is no stack, but a watch of one that waits for several things (completion.hpp), a task without a stack
  /// (../task/waiting_task.hpp), or what begins after others (../scheduler/dependent.hpp). resume calls this instead.
  void (*told)(waiting_stack& me) noexcept = nullptr;

  /// Lets some worker of the pool resume the stack: the caller's, if it works for that pool, has memory for its ring and the pool steals;
  /// else a chosen one, or if nothing is stolen the one that left it. A thief may be first. Any thread.
  void resume() noexcept;
  /// Puts the stack behind what waits for the worker that left it. A thief may be first. By that worker.
  void resume_later() noexcept;
  /// Puts the stack before what waits for the worker that left it, which has room in its ring. Otherwise as resume_later.
  void resume_first() noexcept;
  /// Puts the stack into the open inbox of `w`, which runs here and has just taken something out of it that counts as visible work: from now
  /// on that is this stack. So no thread must be woken. A thief may be first.
  void resume_in_place_of_taken(core::worker& w) noexcept;
  /// The stack that running `r` resumes; null: `r` is something else. By the worker that has taken `r`.
  static stack* resumed_by(resumable& r) noexcept;
};

/// Lets some worker of the pool run `r`, which worker `left_by` has left: as waiting_stack::resume. Any thread.
void give_to_some_worker(pool_state& p, resumable& r, unsigned left_by, bool is_high) noexcept;

// The event: it happens once, and suspended stacks and sleeping threads wait for it. It is the end of a job, what a thread off a pool
// sleeps on, and what a worker sleeps on that has no memory for another stack. README.md, "The event", says why set() touches nothing that
// may be gone. Next: scheduler/submission.hpp, a job.

/// `Stack` has resume(), and `next`, which links the stacks that wait. A waiter may destroy the event as soon as its wait has returned:
/// set() accesses neither the event nor a waiter after that.
template <class Sync, class Stack>
class basic_event {
 public:
  static constexpr std::uint32_t state_when_set = 2;  // for debuggers

  bool is_set() const noexcept { return state_.load(std::memory_order_acquire) == set_; }  // acquire: pairs with set, for the result

  /// Sets the event and wakes every waiter, in O(waiters). Once, by any thread.
  void set() noexcept {
    // acquire: pairs with await, for the stacks in the list. A waiter that finds the list closed waits for the state.
    Stack* waiting = suspended_.exchange(closed(), std::memory_order_acquire);
    // release: pairs with is_set and wait_for, for the result. The exchange is the last access; the wake-up uses the address only.
    if (state_.exchange(set_, std::memory_order_release) == awaited_) Sync::wake_all(state_);
    while (waiting != nullptr) {
      Stack& w = *waiting;
      waiting = static_cast<Stack*>(w.next);  // read before `w` may be resumed
      w.resume();
    }
  }
  /// Sets the event, by the only thread that will wait for it. relaxed: no other thread reads it.
  void set_by_waiter() noexcept { state_.store(set_, std::memory_order_relaxed); }

  /// Enters `w`, which is suspended already: set() resumes it. False: the event is set, and `w` is not in the list.
  bool await(Stack& w) noexcept {
    // relaxed, here and where the exchange fails: the pointer is stored, not followed
    Stack* first = suspended_.load(std::memory_order_relaxed);
    do {
      if (first == closed()) {
        // the setter has yet to store the state; the event must not be destroyed before that
        for (int round = 0; !is_set(); ++round) Sync::give_way(round);
        return false;
      }
      w.next = first;
      // release: pairs with the exchange in set, for the suspended stack and `w`
    } while (!suspended_.compare_exchange_weak(first, &w, std::memory_order_release, std::memory_order_relaxed));
    return true;
  }

  /// Puts the calling thread to sleep until the event is set.
  void wait() noexcept {
    while (!is_set()) wait_for(1'000'000'000);
  }
  /// Puts the calling thread to sleep until the event is set, or for `nanoseconds`. True: the event is set.
  bool wait_for(std::int64_t nanoseconds) noexcept {
    std::uint32_t s = clear_;
    // acquire, where it fails because the event is set: pairs with set. relaxed, where it succeeds: it tells the setter that a thread
    // sleeps, and hands nothing over.
    if (!state_.compare_exchange_strong(s, awaited_, std::memory_order_relaxed, std::memory_order_acquire) && s == set_) return true;
    Sync::wait_for(state_, awaited_, nanoseconds);
    return is_set();
  }

 private:
  static constexpr std::uint32_t clear_ = 0, awaited_ = 1, set_ = state_when_set;  // awaited: a thread may sleep on the state
  Stack* closed() noexcept { return reinterpret_cast<Stack*>(this); }              // no stack is at this address

  typename Sync::template atomic<std::uint32_t> state_{clear_};
  typename Sync::template atomic<Stack*> suspended_{nullptr};  // the list, linked by next; or closed(), once the event is about to be set
};

/// The event that ships.
class NOPAL_API event : private basic_event<std_sync, waiting_stack> {
 public:
  /// Only the calling thread, which works for no pool, will wait. Then set() by this thread needs no read-modify-write. Call it before any
  /// other thread knows of the event. Only inside the library: inlined into a program, a compiler might keep the thread's address while
  /// another thread resumes the stack.
  void only_this_thread_waits() noexcept { waiter_ = this_thread(); }

  using basic_event::is_set;
  using basic_event::state_when_set;
  void set() noexcept;
  bool await(waiting_stack& w) noexcept;
  void wait() noexcept;
  bool wait_for(std::int64_t nanoseconds) noexcept;

 private:
  std::uintptr_t waiter_ = 0;  // this_thread() of the only thread that waits; 0: any may wait
};

}  // namespace nopal::core

#pragma once

// What a nopal task may await, as far as functions that wait must know it. Next: awaiters.hpp and, below, how a task awaits it.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/waiter.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Marks what a nopal task may await.
struct awaitable_tag {};

/// What functions return that wait, and return nothing: so that `co_await nopal::yield()` is refused with a message. (void cannot be
/// given to await_transform, so each compiler would print a message of its own.)
struct waited {};

/// True if a T may be in a task's frame, which compilers align as operator new does, whatever is in it.
template <class T>
inline constexpr bool fits_frame = alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

/// How a task awaits `Call`: with its worker free for something else, and without a native stack. Defined by what may be awaited so, such
/// as a mutex.
template <class Call>
class task_waits_for;

/// True if the caller may be a task's body, and a task may wait here without its native stack: on a worker, outside of a nopal::stay, not
/// in a pool whose stacks return to their threads. False: a call that waits does so at once.
NOPAL_API bool task_may_wait_here() noexcept;

/// The base of what a function returns that a task may call or await. Such a function is also called where nothing is awaited, and cannot
/// know which. So what it returns is a reference to its own default argument, which lives until the end of the full expression. Whatever
/// could not be done at once, and was not awaited, is done when the value is used, copied into a variable, or at the latest when the full
/// expression ends. Only in tasks is anything left to do then. README.md, "What is called or awaited".
class pending_call : public awaitable_tag {
 public:
  pending_call(pending_call const&) = delete;
  pending_call& operator=(pending_call const&) = delete;

  bool is_pending() const noexcept { return pending_; }
  void begin() noexcept {
    pending_ = true;
    exceptions_ = std::uncaught_exceptions();
  }
  void end() noexcept { pending_ = false; }

 protected:
  pending_call() noexcept = default;
  ~pending_call() = default;
  /// For the end of the full expression. False also while an exception leaves that expression: then the call does not happen any more.
  bool must_end() noexcept { return pending_ && std::uncaught_exceptions() == exceptions_; }

 private:
  bool pending_ = false;
  int exceptions_ = 0;
};

// A task that waits without a native stack. It is suspended as one that moves to another worker: its native callers return, and its worker
// goes on. Whoever makes true what it waits for gives it to a worker. Next: slow_path.cpp, where it enters a queue and continues;
// README.md, "Waiting without a stack".

struct frame;
struct pool_state;
struct stacklet;
class timer_entry;

/// A task's wait, in that task's frame. Until `step` has entered it in a queue it belongs to the task's worker; then to its waker; then to
/// the worker that takes it out of a ring or an inbox.
class NOPAL_API waiting_task : public inheriting {
 public:
  waiting_task(waiting_task const&) = delete;
  waiting_task& operator=(waiting_task const&) = delete;

  /// What its task waited for has happened: gives the task to a worker. Afterwards `*this` may be gone. Any thread, once for each entry.
  void ready() noexcept;

 protected:
  /// step(me, woken), at the base of a strand: looks whether the task may continue, and if not enters `me` in a queue. True: it has, and
  /// `me` may be gone. False: the task continues, with `error` if that is set. `woken`: ready was called since the last step. It may wait
  /// for a lock, by its native stack, but not while it is in a queue.
  /// here(me): waits on the native stack, where the task cannot leave it. Throws as the wait.
  /// `why` is for reports.
  waiting_task(frame& f, waits_for const& why, bool (*step)(waiting_task& me, bool woken) noexcept, void (*here)(waiting_task& me)) noexcept
      : task_{f}, step_{step}, here_{here}, listed_{why} {
    next = nullptr;
  }
  ~waiting_task() = default;

  /// For await_suspend. True: the task stays suspended.
  bool wait() noexcept;
  /// For await_resume: throws what the wait has thrown.
  void rethrow_if_failed() {
    if (suspended_) [[unlikely]]
      rethrow_failure();
  }
  std::uintptr_t task_as_owner() const noexcept { return reinterpret_cast<std::uintptr_t>(&task_); }

  /// Before `me` enters a queue: makes what ends its wait early, at `until`, or by a request to stop. Null: nothing may, and `unless_asked`
  /// says that then nothing need listen. Throws std::bad_alloc, std::system_error.
  timer_entry* begin_limit(waiter& me, time_point until, bool unless_asked);
  /// After the wake-up, if begin_limit was not null: ends it. True: it has ended the wait, and `me` is still in its queue.
  bool end_limit() noexcept;
  static void start(timer_entry* e) noexcept;

  std::exception_ptr error;

 private:
  friend struct waiting_task_access;
  NOPAL_COLD void rethrow_failure();

  frame& task_;
  bool (*const step_)(waiting_task&, bool) noexcept;
  void (*const here_)(waiting_task&);
  stacklet* arena_ = nullptr;  ///< that of the task, with all that it holds, while no worker runs the task
  pool_state* pool_ = nullptr;
  unsigned left_by_ = 0;
  bool is_high_ = false;
  bool suspended_ = false;
  bool limited_ = false;
  listed_task listed_;
  bool ends_region_ = false;         ///< the limit is the region's deadline, by another clock than the region's
  alignas(8) std::byte memory_[16];  ///< orphan_memory for the task's ancestors, until it is published
  time_point deadline_{};
  alignas(8) std::byte limit_[192];  ///< a timer_entry, whose header is not for every program
};

/// A waiting_task whose steps are Derived's: `bool waits(bool woken)` and `void wait_here()`, which may throw, but waits only before it has
/// entered a queue.
template <class Derived>
class parks : public waiting_task {
 public:
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<>) noexcept { return wait(); }

 protected:
  // NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility)
  parks(frame& f, waits_for const& why) noexcept : waiting_task{f, why, step, here} {}
  ~parks() = default;

 private:
  static bool step(waiting_task& me, bool woken) noexcept {
    auto& self = static_cast<Derived&>(me);
    try {
      return self.waits(woken);
    } catch (...) {
      self.error = core::caught();
      return false;
    }
  }
  static void here(waiting_task& me) { static_cast<Derived&>(me).wait_here(); }
};

/// A waiter, of the kind `Node`, whose wake-up gives a parked task to a worker.
template <class Node>
struct task_node : Node {
  waiting_task& by;
  template <class... A>
  task_node(waiting_task& t, A... a) noexcept : Node(a...), by{t} {
    this->told = [](waiting_stack& me) noexcept { static_cast<task_node&>(me).by.ready(); };
  }
};

}  // namespace nopal::core

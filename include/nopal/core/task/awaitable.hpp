#pragma once

// What a nopal task may await, as far as functions that wait must know it. Next: awaiters.hpp and waiting_task.hpp, how a task awaits it.

#include <exception>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Marks what a nopal task may await.
struct awaitable_tag {};

/// What functions return that wait, and return nothing: so that `co_await nopal::yield()` is refused with a message. (void cannot be
/// given to await_transform, so each compiler would print a message of its own.)
struct waited {};

/// True if a T may be in a task's frame, which compilers align as operator new does, whatever is in it.
template <class T>
inline constexpr bool fits_frame = alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

/// How a task awaits `Call`: with its worker free for something else, and without a native stack. Defined by waiting_task.hpp and its like.
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

}  // namespace nopal::core

#pragma once

// Leaving a native stack until somebody resumes it. Whoever leaves one offers nothing: what was in the deque is given away first, so the stack
// can be resumed by any worker. README.md, "Stacks". Next: context.hpp, the switch itself; scheduler/search.hpp, what runs on the fresh stack.

#include <cstdint>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/deque/resumable.hpp"
#include "nopal/core/stack/context.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/wait/waits_for.hpp"

namespace nopal::core {

/// One suspension of a stack. It lies in a frame on that stack.
struct suspension : after_switch {
  stack* left;    ///< filled in by suspend
  waits_for why;  ///< for reports
  bool reclaims;  ///< the pages that lie unused below go back to the system
  /// Makes the stack known to whoever is to resume it; from then on neither the stack nor this may be touched. It runs on another stack, by the
  /// same worker. True: nobody will resume it, and the worker itself does, at once.
  bool (*publish)(suspension&) noexcept;
};

/// Leaves the stack that runs here until somebody resumes it. The worker may be another one afterwards. False: there is no memory for the
/// stack that this worker would need, and nothing has happened.
bool suspend(suspension& s) noexcept;
/// Leaves the stack likewise, and publishes it by `publish(stack)`, which says what suspension::publish says.
template <class Publish>
bool suspend(waits_for why, bool reclaims, Publish publish) noexcept {
  static_assert(std::is_nothrow_invocable_r_v<bool, Publish&, stack&>);
  struct with_closure : suspension {
    Publish* closure;
  } s;
  s.why = why;
  s.reclaims = reclaims;
  s.closure = &publish;
  s.publish = [](suspension& x) noexcept { return (*static_cast<with_closure&>(x).closure)(*x.left); };
  return suspend(s);
}

/// Resumes `s`, which nobody else will, on the calling worker. From the base of the stack that runs here, which is free then.
[[noreturn]] void resume_stack(stack& s) noexcept;
/// Resumes a stack that was left at a fork of a scope, by a worker that has taken it: resumable::run of each stack.
void run_left_stack(resumable& r, worker& w) noexcept;
/// Leaves the stack that runs here, from its base, for the own stack of the thread that works here. The stack is free then.
[[noreturn]] void leave_for_thread(stack& mine) noexcept;

/// Waits until `n` children have arrived at `j`: `waiting` is the stack that is left, written before others can read it. Where there is no
/// memory for another stack the worker waits where it is, and tries again now and then, since what it waits for may have come to need this
/// very worker, by a resume_on.
void wait_at_join(join_word& j, std::int64_t n, stack*& waiting) noexcept;

}  // namespace nopal::core

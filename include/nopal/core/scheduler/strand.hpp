#pragma once

// A strand: what one worker runs between two searches for work, on one native stack and one arena. Its hot fields are where the fork path
// needs them, in fork_state and the deque; the rest is this value. Only the worker that runs it touches it. Next: saved_strand.hpp, which
// saves both.

#include <cstdint>
#include <exception>

#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct deferred_start;
struct frame;
struct move_request;
class waiting_task;

/// What the slow paths of a fork tell the loop at the stack's base, and what other workers know of the strand. Default: a strand that has
/// just begun.
struct strand {
  /// What the loop does once every native frame of the strand has unwound.
  enum class next_step : unsigned char {
    nothing,      ///< the task waits at its join
    lost_parent,  ///< `lost`, the parent of the child that ended here, was stolen: the child arrives at its join
    deferred,     ///< `deferred` waits for a stack that is not low
    move,         ///< `moving` goes to another worker
    wait,         ///< `waiting` waits, without a stack
  };

  bool unwinding = false;     ///< every native frame is to return to the loop: the alarm is 0, and no entry of the strand is private
  bool threw = false;         ///< the child that has just ended left `exception`; the alarm is 0, and no entry of the strand is private
  bool not_started = false;   ///< that child never began
  bool offered = false;       ///< the strand has forked where others may see it, and counts as visible work
  bool polls_always = false;  ///< the program changed the mode without telling nopal: each fork looks. Defined while `offered`
  next_step next = next_step::nothing;
  frame* lost = nullptr;
  control_words ended_in{};  ///< the mode in which the child of `lost` has ended
  deferred_start* deferred = nullptr;
  move_request* moving = nullptr;
  waiting_task* waiting = nullptr;
  frame* throwing = nullptr;                           ///< the task whose next await_resume throws: must_throw is for this task
  std::uintptr_t alarm_before = fork_state::no_alarm;  ///< the alarm before an exception set it to 0
  std::exception_ptr exception;
  control_words declared{};  ///< the mode of its code, as far as the program has told. Defined while `offered`
  std::int64_t floor = 0;    ///< the index in the deque where the strand's entries begin: those below belong to saved strands
};

}  // namespace nopal::core

#pragma once

// One event of a trace: what happened on a worker, when, and to which object. Four words. Next: ring.hpp, where a worker keeps its
// events; timeline.cpp, which makes slices of them.

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// What happened. `a`, `b` and `extra` are the fields of trace_event; those not named are 0. A *lane* is what one worker did. If a
/// strand begins, `a` is an address in the function that it runs.
enum class traced : std::uint8_t {
  nothing,         ///< no event: a place that is not written yet
  strand,          ///< a strand that was ready begins: a fiber, unless the next event says what it is
  job,             ///< a job from an inbox begins
  callers_job,     ///< a job begins; an external caller runs it in the worker's place
  task,            ///< a stolen task is resumed; b: its frame
  moved_task,      ///< a task that another worker has sent is resumed; b: its frame
  branch,          ///< a stolen branch begins
  child,           ///< a child of a scope off the pool begins
  resumed,         ///< a native stack is resumed; a: what it waited for, a text, or null if it was left at a fork; extra: the stack
  ended,           ///< the strand has ended: the worker searches
  suspended,       ///< the strand leaves its native stack; a: what it waits for, a text; b: of which object; extra: the stack
  suspended_task,  ///< a task is left at its join; b: its frame
  joined,          ///< the last child continues with the task that waited at its join; b: its frame
  stays_waiting,   ///< the strand waits on top of its stack; fields as for `suspended`
  stole,           ///< the worker has stolen an entry; extra: the victim
  slept,           ///< the worker's thread woke; a: when it fell asleep, in nanoseconds
  napped,          ///< as `slept`, for a nap of the last thief
  stacks,          ///< a: the number of native stacks that the pool has mapped
  submitted,       ///< a job was submitted, or injected by a caller of run
  spawned,         ///< a fiber was spawned from outside
  span_began,      ///< a: its name, a text; b: its id
  span_ended,      ///< b: its id
};

struct trace_event {
  std::int64_t time = 0;   ///< in nanoseconds, by the steady clock
  std::uint64_t what = 0;  ///< the kind in the low byte, `extra` above it
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  static constexpr unsigned extra_begins = 8;
  traced kind() const noexcept { return static_cast<traced>(what & 0xff); }
  std::uint64_t extra() const noexcept { return what >> extra_begins; }
  char const* text() const noexcept { return reinterpret_cast<char const*>(a); }  // NOLINT(performance-no-int-to-ptr)
};

}  // namespace nopal::core

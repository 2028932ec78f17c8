#pragma once

// What the running thread works for: the hot part of its worker. Only that thread may touch it. Read it afresh after everything that can
// suspend: another worker may run the caller's stack then. Next: promise.hpp, which reads it at a task's birth; arena.hpp, which holds
// frames; scheduler/worker.hpp, the rest of a worker.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/architecture/thread_words.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/task/arena.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stack;
class worker;

/// The part of a worker that a fork touches first. A thread without a worker has only this.
struct fork_state {
  /// The parent and the slot of the next child to be born: written just before its function is called, read by its promise.
  std::uintptr_t parent_word = 0;
  void* slot = nullptr;

  core::arena arena;

  /// The native stack that runs here: null on a thread that works for no pool.
  stack* here = nullptr;
  NOPAL_INLINE bool works() const noexcept { return here != nullptr; }

  /// After a called child returned, its caller may continue only from below the alarm: see undisturbed.
  std::uintptr_t alarm = no_alarm;
  static constexpr std::uintptr_t no_alarm = ~std::uintptr_t{0};
  /// As no_alarm, and no task's frame is on this native stack: no strand need be saved before the stack is left.
  static constexpr std::uintptr_t no_tasks = no_alarm - 1;

  /// After a called child returned: true if its caller may continue at once. False if the caller's native frame is at or above the alarm:
  /// everything unwinds, or the child left an exception (alarm 0); or the child left an empty segment in the arena (alarm at the stack
  /// pointer from which that child asked for memory).
  NOPAL_INLINE bool undisturbed() const noexcept { return stack_below(alarm); }
  /// For a coroutine that was just resumed: true if there is an exception for it. Then rethrow_into_task (slow_path.hpp) throws it.
  NOPAL_INLINE bool must_throw() const noexcept { return alarm == 0; }

  /// The caller may run a loop that takes fewer ticks without a further check: 0 on a worker. On other threads a hint, which
  /// loop/pace.hpp keeps; 0 in a stop region.
  std::atomic<std::uint64_t> alone{0};
};

/// What the running thread works for, read afresh; on a thread that works for no pool, a state of which works() is false. All that a fork
/// needs is behind this one pointer: addressed through the thread register itself it costs 1.5 ns a fork more (docs/fork-cost.md).
NOPAL_INLINE fork_state* state_here() noexcept { return static_cast<fork_state*>(read_thread_word<thread_word::state>()); }
/// Sets what the running thread works for. `s`: a worker; null: from now on it works for no pool.
void work_for(fork_state* s) noexcept;
/// By a thread that works for no pool: it enters a stop region, or has left all of them.
void work_for_none(bool in_region) noexcept;
/// fork_state::alone of all threads that work for no pool, and run in no stop region.
std::atomic<std::uint64_t>& alone_outside() noexcept;

}  // namespace nopal::core

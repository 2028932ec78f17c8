#pragma once

// stay: a stretch of code that its thread does not leave. Next: core/stack/home.hpp, how that is done.

#include "nopal/core/compiler/config.hpp"

#include <source_location>

namespace nopal::inline NOPAL_ABI {

namespace core {
class stack;
}

/// While it lives, the code around it and all that this code calls stays on its thread: joins and waits return on the thread that called
/// them. For calls of libraries that keep something of their thread and call back into nopal, for a std::mutex held across a join, for
/// errno and other thread-locals.
///
///     void render() {
///       nopal::stay here;
///       std::lock_guard const lock{mutex};
///       nopal::parallel_invoke(left_half, right_half);
///     }                                             // unlocked by the thread that has locked it
///
/// At a join the thread runs only what descends from that join until the join is complete, and at any other wait nothing, unless all other
/// workers wait like this too: one of them always runs anything, so that nothing stands still. A yield sleeps for a moment. If the thread
/// must leave such stretches after all, it first resumes the one that it left last, unless that takes too long (300 ms if that one waits
/// for something that is no join, three seconds if it waits at a join, five times as long while other workers run something). A scope's
/// children are called, or wait for a worker or for the join while the caller continues. What other threads take (the second half of
/// parallel_invoke, a scope's child, a task) does not stay unless it says so itself.
///
/// Coroutines move in any case, so make it in an ordinary function that the coroutine calls. In a coroutine it ends the program with a
/// message: in each function that is written as one that returns a nopal::task, in any other if a co_await that may suspend is within its
/// life, and if it is made with `new`. (In a coroutine that cannot be recognised, as a lambda, it may stay if no co_await is within its
/// life, and then does what it does in an ordinary function.)
///
/// pool_options::resume = resume::home does the same for everything that a pool runs, but at waits that are no joins its threads run
/// anything. On a thread that works for no pool this does nothing: such a thread returns on itself from every call.
///
/// Some runtimes call back in a floating-point mode of their own, as oneTBB does: forks inside have the mode of that place.
///
/// On a thread that has called pool::run, and so works as a worker for its own job only, the constructor moves the caller to a worker's own
/// thread. So make it first: before a lock is taken, and before another language is called whose code calls nopal and stays there. What
/// that thread has taken before (a mutex, Python's lock) does not move. Elsewhere it costs some nanoseconds. Nests.
class [[nodiscard]] stay {
 public:
  stay(std::source_location made_by = std::source_location::current()) noexcept : stay{made_by.function_name()} {}
  stay(stay const&) = delete;
  stay& operator=(stay const&) = delete;
  NOPAL_API ~stay();

 private:
  NOPAL_API explicit stay(char const* made_by) noexcept;

  core::stack* on_;  // null off a pool
  bool was_fast_;    // the forks of scopes were fast before
};

}  // namespace nopal

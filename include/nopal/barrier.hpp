#pragma once

// barrier: a fixed number of fibers, tasks, functions or threads that wait for each other, phase after phase. Next:
// core/wait/basic_counter.hpp, the protocol.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

/// A barrier without its completion function.
class NOPAL_API barrier_word {
 public:
  /// Throws std::invalid_argument unless 0 <= n <= max.
  explicit barrier_word(std::ptrdiff_t n);
  barrier_word(barrier_word const&) = delete;
  barrier_word& operator=(barrier_word const&) = delete;
  ~barrier_word() {
    if (!word_.at_rest()) [[unlikely]]
      check_destroyed();
  }

  static constexpr std::ptrdiff_t max = std::ptrdiff_t{1} << 58;

  /// True: the caller has arrived last in `phase`, and must call complete. Throws std::invalid_argument unless 1 <= n, and n at most what
  /// is still expected; then nothing has happened.
  bool arrive(std::ptrdiff_t n, std::ptrdiff_t dropped, std::uint64_t& phase) {
    in_order();
    if (n >= 1 && n <= max) [[likely]] {
      auto const [p, pending] = word_.arrive(n, dropped);
      phase = p;
      if (n <= pending) [[likely]]
        return n == pending;
      reject(n, pending);
    }
    reject(n, max);
  }
  void complete() noexcept { word_.complete(); }
  /// Throws nopal::stopped.
  void wait(std::uint64_t phase);
  /// Throws nopal::stopped, std::bad_alloc, std::system_error.
  bool wait_until(std::uint64_t phase, time_point deadline);

 private:
  [[noreturn]] NOPAL_COLD static void reject(std::ptrdiff_t n, std::ptrdiff_t pending);
  NOPAL_COLD void check_destroyed() noexcept;

  basic_barrier<timed_stack_waits> word_;
};

/// The completion function of a barrier that has none.
struct no_completion {
  void operator()() const noexcept {}
};

}  // namespace core

/// A barrier as std::barrier, for fibers, tasks, ordinary functions and threads. In each phase as many arrive as are expected; the last
/// calls the completion function, and then all waits return. They see what all did before they arrived, and what the completion did.
///
/// Suspends: the fiber, task or function that waits leaves its native stack, and the worker runs others; a thread that works for no pool
/// sleeps. So more may wait for each other than there are workers. A wait throws nopal::stopped if the caller is asked to stop (stop.hpp):
/// it has still arrived.
///
/// The completion function may wait, fork, lock; the phase lasts until it has ended. If it throws, the phase still ends, and the last that
/// arrived gets the exception.
///
/// Destroying a barrier while a thread waits for it ends the program with a message.
template <class Completion = core::no_completion>
class barrier {
  static_assert(std::is_invocable_v<Completion&>, "nopal: a barrier's completion function is called without arguments");

 public:
  /// What arrive() returns: the phase in which it was called.
  class arrival_token {
   public:
    arrival_token(arrival_token&&) noexcept = default;
    arrival_token& operator=(arrival_token&&) noexcept = default;

   private:
    friend class barrier;
    explicit arrival_token(std::uint64_t p) noexcept : phase_{p} {}
    std::uint64_t phase_;
  };

  /// A barrier of `expected` participants. Throws std::invalid_argument if that is negative or more than max().
  explicit barrier(std::ptrdiff_t expected, Completion f = Completion{}) : word_{expected}, completion_{std::move(f)} {}
  barrier(barrier const&) = delete;
  barrier& operator=(barrier const&) = delete;

  /// The most participants.
  static constexpr std::ptrdiff_t max() noexcept { return core::barrier_word::max; }

  /// Arrives for `n` participants; the last runs the completion function. Never waits. Throws std::invalid_argument if `n` is less than 1
  /// or more than are still expected in this phase; then nothing has changed. Throws what the completion function throws.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t n = 1) { return arrival_token{arrived(n, 0)}; }
  /// Waits until the phase of `t` has ended.
  void wait(arrival_token&& t) { word_.wait(t.phase_); }
  /// Arrives, and waits until the phase has ended. Throws as both.
  void arrive_and_wait() { word_.wait(arrived(1, 0)); }
  /// Arrives, and is not expected from the next phase on. Throws as arrive.
  void arrive_and_drop() { static_cast<void>(arrived(1, 1)); }

  /// As wait, until `deadline`, by any clock. False: that passed first, and the caller may wait for `t` again. Also throws std::bad_alloc,
  /// or std::system_error if the thread that serves time limits cannot be started.
  template <class Clock, class Duration>
  bool wait_until(arrival_token const& t, std::chrono::time_point<Clock, Duration> deadline) {
    return core::by_clock(deadline, [&](core::time_point until) { return word_.wait_until(t.phase_, until); });
  }
  /// As above, for a duration.
  template <class Rep, class Period>
  bool wait_for(arrival_token const& t, std::chrono::duration<Rep, Period> timeout) {
    return word_.wait_until(t.phase_, core::deadline_after(timeout));
  }

 private:
  std::uint64_t arrived(std::ptrdiff_t n, std::ptrdiff_t dropped) {
    std::uint64_t phase = 0;
    if (word_.arrive(n, dropped, phase)) {
      struct at_end {
        core::barrier_word& word;
        ~at_end() { word.complete(); }
      } const phase_ends{word_};
      static_cast<void>(completion_());
    }
    return phase;
  }

  core::barrier_word word_;
  [[no_unique_address]] Completion completion_;
};

}  // namespace nopal

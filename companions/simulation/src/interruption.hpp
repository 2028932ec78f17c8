#pragma once

// How the thread of a worker is timed and stopped: what it has worked, the timer and the signal that stop it, and the thread that does so
// when another worker is due. Next: timeline.hpp, where each worker has a stopwatch and a timer.

#include <pthread.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

// How long a thread has really worked: by the processor's clock, which is exact for short times, and by the system's CPU time of the
// thread, which leaves out the time in which the thread had no CPU.

/// By the thread that `cpu_time` belongs to, except `used`.
class stopwatch {
 public:
  /// Ticks of clock_ticks() in a nanosecond.
  explicit stopwatch(double ticks_in_a_nanosecond = 1) noexcept : ticks_{ticks_in_a_nanosecond} {}

  /// From now on.
  void start(clockid_t cpu_time) noexcept {
    used_ = used(cpu_time);
    ticks_at_start_ = clock_ticks();
  }
  /// Nanoseconds since then, by the processor's clock.
  std::int64_t passed() const noexcept { return static_cast<std::int64_t>(static_cast<double>(clock_ticks() - ticks_at_start_) / ticks_); }
  /// The part of these in which the thread has worked.
  std::int64_t read(clockid_t cpu_time) const noexcept {
    std::int64_t const so_far = passed();
    if (so_far < worth_a_question) return so_far;
    return std::min(so_far, used(cpu_time) - used_);
  }
  /// As read, of a thread that may have waited in between: short times too by the CPU time.
  std::int64_t read_used(clockid_t cpu_time) const noexcept { return used(cpu_time) - used_; }
  /// The CPU time that a thread has used, in nanoseconds. Any thread.
  static std::int64_t used(clockid_t cpu_time) noexcept {
    timespec t{};
    ::clock_gettime(cpu_time, &t);
    return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
  }

 private:
  static constexpr std::int64_t worth_a_question = 20'000;  // nanoseconds: a thread that loses the CPU loses more

  double ticks_;
  std::uint64_t ticks_at_start_ = 0;
  std::int64_t used_ = 0;
};

// A timer of the system that sends a worker's thread the signal which stops it. The ticker sends that signal too, at a lower cost; but the
// ticker is late if other programs have its CPU, and this timer is not.

/// If the system has no timer left, no signal is sent. All but `begin` by any thread, one at a time.
class thread_alarm {
 public:
  thread_alarm() = default;
  thread_alarm(thread_alarm const&) = delete;
  thread_alarm& operator=(thread_alarm const&) = delete;
  ~thread_alarm() { end(); }

  /// For the calling thread. `thread`: its number, by the system.
  void begin(pid_t thread) noexcept;
  void end() noexcept;
  bool is_there() const noexcept { return is_there_; }
  /// Sends the signal in so many nanoseconds, then again and again. Replaces the time that was set before.
  void set(std::int64_t nanoseconds) noexcept;
  /// Sends no signal.
  void clear() noexcept {
    is_paused_ = false;
    if (is_set_) set_to(0);
  }
  /// If it is set, sends no signal until the next call, from which on it sends them again.
  void pause_or_resume() noexcept {
    if (std::exchange(is_paused_, is_set_)) {
      set(1);
    } else if (is_set_) {
      set_to(0);
    }
  }

 private:
  void set_to(std::int64_t nanoseconds) noexcept;

  timer_t id_{};
  bool is_there_ = false;
  bool is_set_ = false;
  bool is_paused_ = false;
};

// The signal that stops a worker which runs for long without a fork. The worker waits inside the signal's handler.

/// From now on threads of the process that have a virtual_time handle the signal. It is SIGURG, which does nothing without a handler.
void take_interruptions() noexcept;
/// Unblocks the signal on the calling thread.
void let_interrupt_this_thread() noexcept;
/// Sends it to the thread, which has not ended.
void interrupt(pthread_t thread) noexcept;
/// The cost of a thread_alarm to the strand that it stops, in nanoseconds, without what the handler does: high on a virtual machine.
/// Measured once, in half a millisecond. A signal from another thread costs less.
std::int64_t cost_of_alarm(double ticks_in_a_nanosecond) noexcept;
/// True if the system says that the thread sleeps, and does not only wait for a CPU. `thread`: the system's number of a thread of the
/// process. Does not call malloc, since the thread may hold malloc's lock.
bool is_asleep(int thread) noexcept;

// The thread that interrupts a worker when another is due. It asks the worker's next fork to poll; a worker that does not fork soon gets a
// signal, SIGURG, and waits inside the signal's handler. If the worker that has the turn waits for another one in a way that the simulation
// does not see, the ticker takes the turn from it.

class ticker {
 public:
  /// What the ticker does to the worker that has the turn.
  struct hands {
    std::function<void(unsigned)> ask;        ///< makes its next fork poll
    std::function<void(unsigned)> interrupt;  ///< sends the signal
    std::function<bool(unsigned)> unblock;    ///< takes the turn from it if it does not run. True: done
    std::function<void()> rested;             ///< called if no worker had the turn until the time came
  };
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  /// `cpus`: where it runs. `spins`: it waits for short times awake, since no worker needs these CPUs; else it sleeps, and is later.
  ticker(hands h, std::vector<int> const& cpus, bool spins, double ticks_in_a_nanosecond);
  ~ticker();
  ticker(ticker const&) = delete;
  ticker& operator=(ticker const&) = delete;

  /// From now on `worker` has the turn, and must be interrupted when clock_ticks() is `due`, or never. ~0u: none has the turn, and `rested`
  /// is called then.
  void set(unsigned worker, std::uint64_t due) noexcept;
  /// The CPU time that its thread has used, in nanoseconds.
  std::int64_t used() noexcept;

 private:
  void run(std::vector<int> const& cpus) noexcept;
  bool wait_until(std::uint64_t ticks, std::uint32_t epoch) noexcept;
  void watch(unsigned worker, std::uint32_t epoch) noexcept;

  hands const hands_;
  bool const spins_;
  double const ticks_;
  // One thread at a time sets these; epoch_ is odd while it does.
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<unsigned> worker_;
  std::atomic<std::uint64_t> due_{never};
  std::atomic<bool> ends_{false};
  std::atomic<bool> sleeps_{false};
  std::thread thread_;
};

}  // namespace nopal::core

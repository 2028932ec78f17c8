#pragma once

// A timer of the system that sends a worker's thread the signal which stops it. The ticker sends that signal too, at a lower cost; but the
// ticker is late if other programs have its CPU, and this timer is not. Next: timeline.hpp, which sets it.

#include <pthread.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

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
    if (is_set_) set_to(0);
  }

 private:
  void set_to(std::int64_t nanoseconds) noexcept;

  timer_t id_{};
  bool is_there_ = false;
  bool is_set_ = false;
};

// The signal that stops a worker which runs for long without a fork. The worker waits inside the signal's handler. Next: ticker.hpp, which
// sends it.

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

}  // namespace nopal::core

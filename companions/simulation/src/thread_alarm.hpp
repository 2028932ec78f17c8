#pragma once

// A timer of the system that sends a worker's thread the signal which stops it. The ticker sends that signal too, at a lower cost; but the
// ticker is late if other programs have its CPU, and this timer is not. Next: timeline.hpp, which sets it.

#include <sys/types.h>

#include <ctime>

#include <cstdint>

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

}  // namespace nopal::core

#pragma once

// A timer of the system's that sends a worker's thread the signal by which that is stopped. The ticker does so, too, and at a lower cost; but
// where other programs have its CPU it comes late, and this does not. Next: timeline.hpp, which sets it.

#include <sys/types.h>

#include <ctime>

#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Where the system has no timer left there is none, and nothing is sent. All but `begin` by any thread, one at a time.
class thread_alarm {
 public:
  thread_alarm() = default;
  thread_alarm(thread_alarm const&) = delete;
  thread_alarm& operator=(thread_alarm const&) = delete;
  ~thread_alarm() { end(); }

  /// For the calling thread, which is `thread` by the system's number.
  void begin(pid_t thread) noexcept;
  void end() noexcept;
  bool is_there() const noexcept { return is_there_; }
  /// The signal comes in so many nanoseconds, then again and again, and not when it was to come before.
  void set(std::int64_t nanoseconds) noexcept;
  /// It does not come.
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

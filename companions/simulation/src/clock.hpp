#pragma once

// How long a thread has really worked: by the processor's clock, which is exact for short times, and by the system's CPU time of the
// thread, which leaves out the time in which the thread had no CPU. Next: timeline.hpp, where each worker has one.

#include <ctime>

#include <algorithm>
#include <cstdint>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core

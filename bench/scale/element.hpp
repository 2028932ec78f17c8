#pragma once

// The cost of an element.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

#include <nopal/simulation.hpp>

namespace scale {

/// The time of each call of `work`: given to the simulated machine, or worked.
class element {
 public:
  /// The number of calls. Relaxed: a count, which is read after a join.
  static inline std::atomic<std::uint64_t> calls{0};

  static void choose(double nanoseconds, bool given) {
    given_ = given && nanoseconds > 0;
    takes_ = std::chrono::nanoseconds{static_cast<std::int64_t>(nanoseconds)};
    steps_ = given_ ? 0 : static_cast<std::uint64_t>(nanoseconds / step_nanoseconds());
  }
  [[nodiscard]] static bool is_given() noexcept { return given_; }

  static void work() noexcept {
    if (given_) {
      calls.fetch_add(1, std::memory_order_relaxed);
      nopal::simulate_work(takes_);
    } else {
      spin(steps_);
    }
  }

 private:
  static void spin(std::uint64_t steps) noexcept {
    std::uint64_t x = steps;
    for (std::uint64_t k = 0; k < steps; ++k) {
      x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u + 1;
      asm volatile("" : "+r"(x));
    }
  }
  static double step_nanoseconds() noexcept {
    double least = 0;
    for (int k = 0; k < 20; ++k) {
      constexpr std::uint64_t steps = 100'000;
      const auto begin = std::chrono::steady_clock::now();
      spin(steps);
      const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
      const double each = taken.count() / static_cast<double>(steps);
      least = k == 0 || each < least ? each : least;
    }
    return least;
  }

  static inline bool given_ = false;
  static inline std::chrono::nanoseconds takes_{0};
  static inline std::uint64_t steps_ = 0;
};

}  // namespace scale

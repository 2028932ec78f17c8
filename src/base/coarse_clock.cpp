#include "nopal/core/base/coarse_clock.hpp"

#include <time.h>

#include <chrono>
#include <cstdint>

#include "nopal/core/architecture/clock_ticks.hpp"

namespace nopal::inline NOPAL_ABI::core {

std::int64_t coarse_now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

namespace {

using clock = std::chrono::steady_clock;

struct reading {
  std::uint64_t ticks;
  clock::time_point time;
};

// Both clocks at one time: the closest of several pairs, since the thread may lose its CPU between the two.
reading both() noexcept {
  reading best{};
  auto closest = clock::duration::max();
  for (int n = 0; n < 100 && (n < 5 || closest > std::chrono::microseconds{1}); ++n) {
    auto const before = clock::now();
    std::uint64_t const ticks = clock_ticks();
    auto const after = clock::now();
    if (after - before >= closest) continue;
    closest = after - before;
    best = {ticks, before + closest / 2};
  }
  return best;
}

}  // namespace

double ticks_per_nanosecond() noexcept {
  static reading const first = both();
  for (;;) {
    reading const now = both();
    if (auto const passed = now.time - first.time; passed >= std::chrono::milliseconds{2}) {
      return static_cast<double>(now.ticks - first.ticks) / std::chrono::duration<double, std::nano>{passed}.count();
    }
  }
}

}  // namespace nopal::core

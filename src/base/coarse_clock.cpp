#include "nopal/core/base/coarse_clock.hpp"

#include <time.h>

namespace nopal::inline NOPAL_ABI::core {

std::int64_t coarse_now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace nopal::core

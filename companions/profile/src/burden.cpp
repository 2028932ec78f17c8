#include "profile/src/burden.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <vector>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/native.hpp"
#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constexpr double usual = 1500;  // nanoseconds: usual on machines of some ten CPUs
constexpr std::size_t rounds = 201;
constexpr std::size_t least_rounds = 21;
constexpr std::chrono::milliseconds patience{100};

// Times one fork: its first half waits for a thief to begin the second. 0: no thief did in time.
std::uint64_t one_steal(std::chrono::steady_clock::time_point deadline) {
  std::atomic<std::uint64_t> begun{0};
  std::uint64_t const from = clock_ticks();
  parallel_invoke(
      [&] {
        // relaxed, here and below: a number; nothing else is read because of it.
        for (int n = 1; begun.load(std::memory_order_relaxed) == 0; ++n) {
          std_sync::relax();
          if (n % 1024 == 0 && std::chrono::steady_clock::now() >= deadline) return;
        }
      },
      [&] { begun.store(clock_ticks(), std::memory_order_relaxed); });
  std::uint64_t const at = begun.load(std::memory_order_relaxed);
  return std::chrono::steady_clock::now() < deadline && at > from ? at - from : 0;
}

std::vector<std::uint64_t> steals() {
  std::vector<std::uint64_t> taken;
  pool_options options;
  options.workers = 2;
  options.idle = idle::busy;
  options.pin = false;
  pool two{options};
  two.run([&] {
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (taken.size() < rounds) {
      std::uint64_t const t = one_steal(deadline);
      if (t == 0) return;
      taken.push_back(t);
    }
  });
  return taken;
}

}  // namespace

std::uint64_t burden_of_this_machine() {
  static std::uint64_t measured = 0;
  static constinit std::once_flag once;
  std::call_once(once, [] {
    measured = static_cast<std::uint64_t>(usual * ticks_per_nanosecond());
    // Under NOPAL_SCHEDULE one worker runs at a time. NOLINTNEXTLINE(concurrency-mt-unsafe): the environment must not change during the
    // call
    if (std::getenv("NOPAL_SCHEDULE") != nullptr) return;
    try {
      std::vector<std::uint64_t> taken = steals();
      if (taken.size() < least_rounds) return;
      auto const middle = taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 2);
      std::nth_element(taken.begin(), middle, taken.end());
      measured = *middle;
    } catch (std::exception const&) {  // there are no threads or stacks for that pool
    }
  });
  return measured;
}

}  // namespace nopal::core

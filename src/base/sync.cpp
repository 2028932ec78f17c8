#include "nopal/core/base/sync.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <ctime>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/virtual_time.hpp"

namespace nopal::inline NOPAL_ABI::core {

bool heavy_fence_available() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) ==
         0;  // again for each pool: a child may not inherit it
}

// Pairs with light_fence in the deque's pop: README.md of that room, "Private entries".
void heavy_fence() noexcept {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  // The process is registered, or no deque calls this. But on a machine with many CPUs the kernel needs memory for the fast command, and
  // may have none. The slow command needs none.
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) die("membarrier failed after its registration");
}

static long futex(std::atomic<std::uint32_t>& a, int operation, std::uint32_t value, timespec const* timeout) noexcept {
  static_assert(sizeof(a) == sizeof(std::uint32_t));
  return ::syscall(SYS_futex, &a, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

void sleep_on(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept {
  if (nanoseconds < 0) {
    futex(a, FUTEX_WAIT, expected, nullptr);
    return;
  }
  timespec const t{static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
  futex(a, FUTEX_WAIT, expected, &t);
}
void wake_up(std::atomic<std::uint32_t>& a, int threads) noexcept { futex(a, FUTEX_WAKE, static_cast<std::uint32_t>(threads), nullptr); }

void std_sync::wait(std::atomic<std::uint32_t>& a, std::uint32_t expected) noexcept {
  if (virtual_time* const v = virtual_time::here(); v != nullptr) [[unlikely]]
    return v->wait(a, expected, virtual_time::for_ever);
  sleep_on(a, expected, -1);
}
void std_sync::wait_for(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept {
  if (virtual_time* const v = virtual_time::here(); v != nullptr) [[unlikely]]
    return v->wait(a, expected, nanoseconds);
  sleep_on(a, expected, nanoseconds);
}
void std_sync::wake(std::atomic<std::uint32_t>& a) noexcept {
  if (!virtual_time::wake_any(a, false)) wake_up(a, 1);
}
void std_sync::wake_all(std::atomic<std::uint32_t>& a) noexcept {
  virtual_time::wake_any(a, true);
  wake_up(a, INT_MAX);
}
void std_sync::relax() noexcept {
  if (virtual_time* const v = virtual_time::here(); v != nullptr) [[unlikely]]
    return v->relax();
  cpu_relax();
}
void std_sync::yield() noexcept {
  if (virtual_time* const v = virtual_time::here(); v != nullptr) [[unlikely]]
    return v->yield();
  ::sched_yield();
}

void std_sync::sleep(std::int64_t nanoseconds) noexcept {
  if (virtual_time* const v = virtual_time::here(); v != nullptr) [[unlikely]]
    return v->sleep(nanoseconds);
  timespec const t{static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
  ::nanosleep(&t, nullptr);
}

void std_sync::give_way(int round) noexcept {
  int const sleeps = round - tuning::yields_before_sleep;
  if (sleeps < 0) return yield();
  sleep(tuning::sleep_for_holder << std::min(sleeps, tuning::most_longer_sleeps));
}

std::int64_t std_sync::now() noexcept {
  if (virtual_time* const v = virtual_time::here(); v != nullptr) [[unlikely]]
    return v->now();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace nopal::core

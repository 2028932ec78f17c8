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


namespace nopal::inline NOPAL_ABI::core {

bool heavy_fence_available() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;  // again for each pool: a child may not inherit it
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

void std_sync::wait(std::atomic<std::uint32_t>& a, std::uint32_t expected) noexcept { futex(a, FUTEX_WAIT, expected, nullptr); }
void std_sync::wait_for(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept {
  timespec const t{static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
  futex(a, FUTEX_WAIT, expected, &t);
}
void std_sync::wake(std::atomic<std::uint32_t>& a) noexcept { futex(a, FUTEX_WAKE, 1, nullptr); }
void std_sync::wake_all(std::atomic<std::uint32_t>& a) noexcept { futex(a, FUTEX_WAKE, INT_MAX, nullptr); }
void std_sync::yield() noexcept { ::sched_yield(); }

void std_sync::give_way(int round) noexcept {
  int const sleeps = round - tuning::yields_before_sleep;
  if (sleeps < 0) return yield();
  timespec const t{0, tuning::sleep_for_holder << std::min(sleeps, tuning::most_longer_sleeps)};
  ::nanosleep(&t, nullptr);
}

std::int64_t std_sync::now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace nopal::core

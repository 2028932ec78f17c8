#include "nopal/core/sync.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "nopal/core/root.hpp"
#include "nopal/core/scheduler.hpp"

namespace nopal::core {

void die(char const* what) noexcept {
  std::fputs("nopal: ", stderr);
  std::fputs(what, stderr);
  std::fputc('\n', stderr);
  std::fflush(stderr);
  std::abort();
}

char const* words_of(std::exception_ptr const& e) noexcept {
  try {
    std::rethrow_exception(e);
  } catch (std::exception const& x) {
    return x.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

bool heavy_fence_available() noexcept {
  static bool const registered = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return registered;
}

void heavy_fence() noexcept {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  // It is registered, or nobody calls this; but on a machine with many CPUs the kernel needs memory for it. The slow one needs none.
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) die("membarrier failed after its registration");
}

static long futex(std::atomic<std::uint32_t>& a, int operation, std::uint32_t value, timespec const* timeout) noexcept {
  static_assert(sizeof(a) == sizeof(std::uint32_t));
  return ::syscall(SYS_futex, &a, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

void std_sync::wait(std::atomic<std::uint32_t>& a, std::uint32_t expected) noexcept { futex(a, FUTEX_WAIT, expected, nullptr); }
void std_sync::wake(std::atomic<std::uint32_t>& a) noexcept { futex(a, FUTEX_WAKE, 1, nullptr); }
void std_sync::yield() noexcept { ::sched_yield(); }

void event::set() noexcept {
  if (waiter_ == &current_state) {  // nobody sleeps: the waiter is here
    state_.store(set_, std::memory_order_relaxed);
    return;
  }
  // acq_rel: release for await, which finds it closed; acquire of the stacks that wait
  job* waiting = suspended_.exchange(closed(), std::memory_order_acq_rel);
  // release: the result; the exchange is the last access, the wake-up uses the address only
  if (state_.exchange(set_, std::memory_order_acq_rel) == awaited_) futex(state_, FUTEX_WAKE, INT_MAX, nullptr);
  while (waiting != nullptr) {
    auto& w = static_cast<waiting_stack&>(*std::exchange(waiting, waiting->next));  // read before it may go on
    w.pool->resume(w);
  }
}

bool event::await(waiting_stack& w) noexcept {
  job* first = suspended_.load(std::memory_order_acquire);  // acquire: pairs with set
  do {
    if (first == closed()) {
      while (!is_set()) std_sync::yield();  // the setter's last access is yet to come
      return false;
    }
    w.next = first;
    // release: the stack and the job, for set
  } while (!suspended_.compare_exchange_weak(first, &w, std::memory_order_release, std::memory_order_acquire));
  return true;
}

void event::wait() noexcept {
  while (!wait_for(1'000'000'000)) {
  }
}

bool event::wait_for(std::int64_t nanoseconds) noexcept {
  std::uint32_t s = clear_;
  // acquire: pairs with set
  if (!state_.compare_exchange_strong(s, awaited_, std::memory_order_acquire, std::memory_order_acquire) && s == set_) return true;
  timespec const t{static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
  futex(state_, FUTEX_WAIT, awaited_, &t);
  return is_set();
}

}  // namespace nopal::core

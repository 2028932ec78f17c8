#include "nopal/core/base/sync.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "report/code_map.hpp"
#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/scheduler/scheduler.hpp"

namespace nopal::core {

// What happened first, in case that the search for names fails.
[[noreturn]] static void die_saying(char const* what, void const* function) noexcept {
  std::fputs("nopal: ", stderr);
  std::fputs(what, stderr);
  std::fflush(stderr);
  if (std::string const in = place_of(function); !in.empty()) std::fprintf(stderr, " (%s)", in.c_str());
  std::fputc('\n', stderr);
  std::fflush(stderr);
  std::abort();
}

void die(char const* what) noexcept { die_saying(what, nullptr); }

void die_in(void const* function, char const* format, ...) noexcept {
  std::array<char, 1024> text;
  std::va_list rest;
  va_start(rest, format);
  std::vsnprintf(text.data(), text.size(), format, rest);
  va_end(rest);
  die_saying(text.data(), function);
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
void std_sync::wait_for(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept {
  timespec const t{static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
  futex(a, FUTEX_WAIT, expected, &t);
}
void std_sync::wake(std::atomic<std::uint32_t>& a) noexcept { futex(a, FUTEX_WAKE, 1, nullptr); }
void std_sync::wake_all(std::atomic<std::uint32_t>& a) noexcept { futex(a, FUTEX_WAKE, INT_MAX, nullptr); }
void std_sync::yield() noexcept { ::sched_yield(); }

void event::set() noexcept {
  if (waiter_ == this_thread()) return set_by_waiter();
  basic_event::set();
}
bool event::await(waiting_stack& w) noexcept { return basic_event::await(w); }
void event::wait() noexcept { basic_event::wait(); }
bool event::wait_for(std::int64_t nanoseconds) noexcept { return basic_event::wait_for(nanoseconds); }

}  // namespace nopal::core

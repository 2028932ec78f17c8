#include "simulation/interruption.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "nopal/core/architecture/system_call.hpp"
#include "nopal/core/base/virtual_time.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constexpr int interruption = SIGURG;

// On a worker's thread, in the middle of whatever that does.
void on_interruption(int, siginfo_t*, void* context) {
  int const before = errno;
  if (virtual_time* const v = virtual_time::here(); v != nullptr && v->may_be_interrupted()) v->interrupted(waits_at_futex(context));
  errno = before;
}

}  // namespace

bool is_asleep(int thread) noexcept {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "/proc/self/task/%d/stat", thread);
  int const f = ::open(text.data(), O_RDONLY | O_CLOEXEC);
  if (f < 0) return false;
  ssize_t const n = ::read(f, text.data(), text.size() - 1);
  ::close(f);
  if (n <= 0) return false;
  text[static_cast<std::size_t>(n)] = '\0';
  char const* const behind_name = std::strrchr(text.data(), ')');  // of "number (name) state …"
  return behind_name != nullptr && std::strlen(behind_name) > 2 && behind_name[2] == 'S';
}

void take_interruptions() noexcept {
  static bool const handled = [] {
    struct sigaction s{};
    s.sa_sigaction = on_interruption;
    s.sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO;
    return ::sigaction(interruption, &s, nullptr) == 0;
  }();
  static_cast<void>(handled);
}

void let_interrupt_this_thread() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, interruption);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void interrupt(pthread_t thread) noexcept { static_cast<void>(::pthread_kill(thread, interruption)); }

}  // namespace nopal::core

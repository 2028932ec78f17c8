#pragma once

// Signals at 1 kHz: two timers of the process, one with a handler that lets system calls restart and one with a handler that does not.
// Threads of pools block them, so they are delivered to threads outside, which run jobs in the place of sleeping workers.

#include <signal.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace soak {

class timers {
 public:
  timers() {
    constexpr std::array<int, 2> signals{SIGALRM, SIGUSR1};
    for (std::size_t k = 0; k < 2; ++k) {
      struct sigaction mine{};
      mine.sa_handler = [](int) { taken_.fetch_add(1, std::memory_order_relaxed); };
      mine.sa_flags = k == 0 ? SA_RESTART : 0;
      sigevent event{};
      event.sigev_notify = SIGEV_SIGNAL;
      event.sigev_signo = signals[k];
      constexpr timespec every{0, 2'000'000};
      itimerspec const times{every, every};
      if (::sigaction(signals[k], &mine, nullptr) != 0 || ::timer_create(CLOCK_MONOTONIC, &event, &timers_[k]) != 0 ||
          ::timer_settime(timers_[k], 0, &times, nullptr) != 0) {
        throw std::system_error{errno, std::generic_category(), "no timer"};
      }
    }
  }
  timers(timers const&) = delete;
  timers& operator=(timers const&) = delete;
  ~timers() {
    for (timer_t const t : timers_) ::timer_delete(t);
  }

  static std::uint64_t taken() noexcept { return taken_; }

 private:
  static inline std::atomic<std::uint64_t> taken_{0};
  std::array<timer_t, 2> timers_{};
};

}  // namespace soak

#pragma once

// For death tests: faults, signals that are sent, handlers for both, and programs with a pool that receive them.

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#include "nopal/pool.hpp"
#include "signals.hpp"

namespace test {

inline nopal::pool_options const small{.workers = 1};

[[gnu::noinline]] inline void touch_null() {
  static std::atomic<std::uintptr_t> nowhere{8};
  *reinterpret_cast<int volatile*>(nowhere.load()) = 1;  // NOLINT(performance-no-int-to-ptr)
}
inline long endless(long n) {
  char volatile used[512];
  for (std::size_t k = 0; k < sizeof used; k += 64) used[k] = 1;
  return n < 0 ? used[0] : endless(n + 1) + used[64];
}

/// The kernel's own entry, without the wrapper of libc's handlers.
inline void send_to_this_thread(int signal) { ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal); }

using sender = void (*)(int);
inline sender const senders[] = {
    [](int s) { ::raise(s); },
    [](int s) { ::kill(::getpid(), s); },
    [](int s) { ::pthread_kill(::pthread_self(), s); },
    [](int s) { ::sigqueue(::getpid(), s, {.sival_int = 1}); },
    send_to_this_thread,
    [](int s) { std::thread{[s, to = ::getpid()] { ::kill(to, s); }}.join(); },
};

/// A death test's program: what it does with a pool, and a limit on its time, since a defect may make it loop for ever.
template <class F>
[[noreturn]] void with_pool(F f) {
  ::alarm(500);
  nopal::pool pool{{.workers = 2}};
  f(pool);
  std::_Exit(1);
}
template <class F>
[[noreturn]] void with_pool_after(int signal, struct sigaction const& first, F f) {
  ::sigaction(signal, &first, nullptr);
  with_pool(f);
}

inline struct sigaction handler_of(void (*f)(int), unsigned flags = 0, std::initializer_list<int> mask = {}) {
  struct sigaction a{};
  a.sa_handler = f;
  a.sa_flags = static_cast<int>(flags);
  a.sa_mask = set_of(mask);
  return a;
}
inline struct sigaction handler_of(void (*f)(int, siginfo_t*, void*), unsigned flags = 0, std::initializer_list<int> mask = {}) {
  struct sigaction a{};
  a.sa_sigaction = f;
  a.sa_flags = static_cast<int>(flags | SA_SIGINFO);
  a.sa_mask = set_of(mask);
  return a;
}

}  // namespace test

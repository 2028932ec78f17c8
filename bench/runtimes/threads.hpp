#pragma once

#include <gnu/libc-version.h>
#include <sched.h>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace bench {

// The system's threads. The process keeps to as many CPUs as there are workers, so that a thread for each of a thousand jobs has no more of
// them than a thousand fibers.
struct threads_runtime {
  explicit threads_runtime(unsigned number) : workers{number} {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    cpu_set_t first;
    CPU_ZERO(&first);
    unsigned left = number;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE && left > 0; ++cpu) {
      if (!CPU_ISSET(cpu, &all)) continue;
      CPU_SET(cpu, &first);
      --left;
    }
    sched_setaffinity(0, sizeof first, &first);
  }

  static std::string version() { return std::string{"threads of glibc "} + gnu_get_libc_version(); }

  // A block of [0, count) for each worker: f(first, last).
  template <class F>
  void split(std::size_t count, F f) const {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers; ++i)
      threads.emplace_back([&f, first = count * i / workers, last = count * (i + 1) / workers] { f(first, last); });
  }

  // A thread for each: f(i).
  template <class F>
  void each(std::size_t count, F f) const {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
  }

  unsigned workers;
};
using runtime = threads_runtime;

}  // namespace bench

#pragma once

// True if the program comes to rest: there is a tenth of a second in which it uses next to no CPU. On a loaded machine it may take some
// time until each of its threads sleeps; a program with a thread that never sleeps has no such tenth.

#include <chrono>
#include <ctime>
#include <thread>

namespace test {

inline bool rests() {
  using namespace std::chrono_literals;
  auto const used = [] {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
  };
  for (int tries = 0; tries < 100; ++tries) {
    auto const before = used();
    std::this_thread::sleep_for(100ms);
    if (used() - before < 2ms) return true;
  }
  return false;
}

}  // namespace test

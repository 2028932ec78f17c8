#pragma once

// A deque on one thread: a hook does the steps of a thief or of the owner in the middle of the other's operation.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "nopal/core/deque/deque.hpp"

namespace test {

/// A machine with a clock that a test sets, and a hook that is called wherever a thief waits, fences or has got the lock.
struct scripted_sync : nopal::core::std_sync {
  static inline std::function<void()> while_locked;

  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
  };
  static inline std::int64_t time = 0;
  static inline std::int64_t tick = 10'000;  // each look at the clock: a thief's patience ends at its second look
  static inline std::function<void()> while_waiting;
  static inline std::function<void()> while_fencing;
  static inline int heavy_fences = 0;

  static void light_fence() noexcept {}
  static void heavy_fence() noexcept {
    ++heavy_fences;
    if (while_fencing) std::exchange(while_fencing, nullptr)();
  }
  static void relax() noexcept {
    if (while_waiting) std::exchange(while_waiting, nullptr)();
  }
  static std::int64_t now() noexcept { return time += tick; }
};

template <>
struct scripted_sync::atomic<bool> : std::atomic<bool> {
  using std::atomic<bool>::atomic;
  bool exchange(bool v, std::memory_order o) noexcept {
    bool const before = std::atomic<bool>::exchange(v, o);
    if (!before && while_locked) std::exchange(while_locked, nullptr)();
    return before;
  }
};

struct deque_test : testing::Test {
  using deque = nopal::core::basic_deque<scripted_sync>;
  using entry = deque::entry;
  using entries = std::vector<entry>;

  deque_test() {
    scripted_sync::time = 0;
    scripted_sync::tick = 10'000;
    scripted_sync::heavy_fences = 0;
    work.set_limit(0);
  }
  ~deque_test() override {
    scripted_sync::while_waiting = nullptr;
    scripted_sync::while_fencing = nullptr;
    scripted_sync::while_locked = nullptr;
  }

  void push(std::initializer_list<entry> all) {
    for (entry const e : all) work.push(e);
  }
  entry steal() {
    return work.steal([](entry) { return true; });
  }
  /// All that a thief can have.
  entries steal_all() {
    entries all;
    while (entry const e = steal()) all.push_back(e);
    return all;
  }
  bool pop() { return work.pop() || work.pop_slow(); }

  deque work{8};
};

}  // namespace test

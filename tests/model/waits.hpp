#pragma once

// The model of nopal::core::timed_stack_waits: a model's thread represents a suspended stack or a sleeping thread. All that decides which
// waiter is woken, and by which thread, is the shipped source: the event, the waiter and its claim, the timer entry.

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "explorer.hpp"
#include "memory.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/event.hpp"
#include "nopal/core/wait/timer.hpp"
#include "nopal/core/wait/waiter.hpp"
#include "sweep.hpp"

namespace model {

struct mortal_sync : sync {
  template <class T>
  using atomic = mortal_atomic<T>;
  template <class T>
  using plain = mortal<T>;

  static constexpr std::int64_t a_second = 1'000'000'000;
  /// A second counts as for ever, so that a lost wake-up shows as a deadlock. A shorter time ends at once.
  static void wait_for(atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds, where at = where::current()) noexcept {
    if (nanoseconds >= a_second) sync::wait(a.used(at), expected, at);
  }
  static void wake_all(atomic<std::uint32_t>& a, where at = where::current()) noexcept { sync::wake_all(a.address(), at); }
};

/// For each thread of the program: whether its stack was resumed. It lives as long as the execution.
struct stacks {
  struct one {
    model::atomic<std::uint32_t> resumed{0};
  };
  std::array<one, most_threads> all;
  static inline stacks* now = nullptr;
};

/// The model of waiting_stack.
struct left_stack {
  mortal<left_stack*> next{nullptr};
  mortal<int> whose{0};
  void (*told)(left_stack& me) noexcept = nullptr;  ///< of a watch: no stack is resumed, but this is called

  /// Resumes the stack, by one releasing store, as a ring or an inbox does. It is the last access to *this.
  void resume() noexcept {
    if (told != nullptr) return told(*this);
    auto& r = stacks::now->all[static_cast<std::size_t>(static_cast<int>(whose))].resumed;
    r.store(1, std::memory_order_release);
    sync::wake(r);
  }
  /// Suspends the stack and publishes it. Returns at once if publish returns false, else when the stack is resumed.
  template <class Publish>
  void leave(Publish publish) noexcept {
    whose = self();
    if (!publish()) return;
    auto& r = stacks::now->all[static_cast<std::size_t>(self())].resumed;
    while (r.load(std::memory_order_acquire) == 0) sync::wait(r, 0u);
    r.store(0, std::memory_order_relaxed);
  }
};

using event = nopal::core::basic_event<mortal_sync, left_stack>;
using sleeper = nopal::core::basic_sleeper<mortal_sync, left_stack, event>;

/// Time passes only when a thread reads the clock: each thread has its own count of readings.
struct steps_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<steps_clock>;
  static constexpr bool is_steady = true;
  static inline std::array<int, most_threads> readings{};
  static time_point now() noexcept { return time_point{duration{readings[static_cast<std::size_t>(self())]++}}; }
};

/// The policy that the models give to the shipped templates.
struct waits {
  using sync = mortal_sync;
  struct waiter : nopal::core::basic_waiter<sync, sleeper> {};
  using time_point = steps_clock::time_point;
  /// A deadline that has passed at the second reading.
  static constexpr time_point soon{std::chrono::nanoseconds{1}};

  static inline unsigned mutex_wakeups_in_vain = 1;
  static constexpr int mutex_spins = 0;

  static inline unsigned threads = 0;  ///< bit i: thread i sleeps where others suspend a stack
  static bool is_thread() noexcept { return (threads >> self() & 1) != 0; }

  /// The timer and its only entry: its mutex, and the entry that was started.
  class timer_entry {
   public:
    explicit timer_entry(waiter& w) : limit_{w} { w.timed = true; }
    timer_entry(timer_entry const&) = delete;
    ~timer_entry() {
      lock();
      if (limit_.waits) known = nullptr;
      unlock();
    }
    void start() noexcept {
      lock();
      limit_.waits = true;
      known = this;
      unlock();
    }
    bool expired() const noexcept { return limit_.expired; }

    /// As the timer's thread when the deadline expires, if the entry was started.
    static void expire() noexcept {
      lock();
      if (timer_entry* const t = std::exchange(known, nullptr); t != nullptr) t->limit_.expire();
      unlock();
    }
    static void reset(program& p) {
      known = nullptr;
      mutex = &p.make<model::atomic<bool>>(false);
    }

   private:
    static void lock() noexcept {
      while (mutex->exchange(true, std::memory_order_acquire)) model::sync::yield();
    }
    static void unlock() noexcept { mutex->store(false, std::memory_order_release); }
    static inline timer_entry* known = nullptr;
    static inline model::atomic<bool>* mutex = nullptr;
    nopal::core::basic_deadline<sync, waiter> limit_;
  };

  static void start(timer_entry& e) noexcept { e.start(); }
  template <class Publish>
  static void await_wake(waiter& me, nopal::core::waits_for, Publish publish) noexcept {
    if (is_thread()) return nopal::core::thread_awaits_wake(me, publish);
    me.thread = nullptr;
    me.leave(publish);
  }
  template <class Publish>
  static bool await_wake_until(waiter& me, nopal::core::waits_for why, time_point limit, Publish publish) {
    if (is_thread()) return nopal::core::thread_awaits_wake_until(me, limit, [&]() noexcept { return publish(nullptr); });
    timer_entry t{me};
    await_wake(me, why, [&]() noexcept { return publish(&t); });
    return !t.expired();
  }
};

/// The owner of a mutex that is locked here.
inline std::uintptr_t who() noexcept { return static_cast<std::uintptr_t>(self() + 1) * 8; }

/// A program in which threads wait. Bit i of `threads`: thread i sleeps; the others suspend their stacks.
inline scenario waiting(std::string name, unsigned threads, std::function<void(program&)> body, int spins = 12, int size = 1) {
  auto const whole = [threads, body = std::move(body)](program& p) {
    memory::clear();
    stacks::now = &p.make<stacks>();
    waits::threads = threads;
    waits::timer_entry::reset(p);
    waits::mutex_wakeups_in_vain = 1;
    steps_clock::readings = {};
    body(p);
  };
  return {std::move(name), whole, -1, size, spins};
}

/// For programs of three threads: none repeats a loop that waits, since an execution with a repeat is like one in which that thread ran
/// later. Larger searches repeat.
inline int const few_spins = size_wanted() - 1;

/// An object that the threads of a program share, and that one of them may destroy.
template <class T, class... A>
std::optional<T>& made(program& p, A&&... a) {
  return p.make<std::optional<T>>(std::in_place, std::forward<A>(a)...);
}

}  // namespace model

/// The tests of `scenarios`; `known_survivors` with their reasons.
#define NOPAL_MODELS_THAT_WAIT(what, ...)                                                          \
  class what##_model : public testing::TestWithParam<std::size_t> {};                              \
  TEST_P(what##_model, is_right) {                                                                 \
    NOPAL_MODEL_SKIP_IF_SLOW();                                                                    \
    model::explore_and_report(#what, scenarios[GetParam()]);                                       \
  }                                                                                                \
  INSTANTIATE_TEST_SUITE_P(every, what##_model, testing::Range(std::size_t{0}, scenarios.size())); \
  TEST(what##_orders, each_is_needed) {                                                            \
    NOPAL_MODEL_SKIP_IF_SLOW();                                                                    \
    model::weaken_each(scenarios, {__VA_ARGS__}, known_survivors);                                 \
  }

#pragma once

// Time limits: one thread a pool, made when first needed, wakes whoever waits until a point in time. A sleeping fiber costs neither a
// worker nor a thread of its own.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "nopal/core/wait/time_limit.hpp"

namespace nopal::core {

struct waiter;
using time_point = std::chrono::steady_clock::time_point;

/// For reports: a limit as waits_for keeps it.
inline std::int64_t nanoseconds_of(time_point t) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

/// More than that is for ever: what is added to it, or to a time, could overflow.
inline constexpr std::chrono::duration<double> century{100 * 365.25 * 86400};

/// The time limit that lies `d` ahead: now, if that is not more than 0, nor a number.
template <class Rep, class Period>
time_point limit_after(std::chrono::duration<Rep, Period> d) {
  std::chrono::duration<double> const seconds{d};
  auto const now = std::chrono::steady_clock::now();
  if (seconds > century) return time_point::max();
  return seconds.count() > 0 ? now + std::chrono::ceil<std::chrono::steady_clock::duration>(d) : now;
}

/// How far `t` lies ahead by its own clock; 0, if it has come. In floating point first: any integers may overflow, those of a clock whose
/// present is negative, too.
template <class Clock, class Duration>
std::chrono::nanoseconds time_left(std::chrono::time_point<Clock, Duration> t) {
  using seconds = std::chrono::duration<double>;
  auto const now = Clock::now();
  seconds const ahead = seconds{t.time_since_epoch()} - seconds{now.time_since_epoch()};
  if (ahead > century) return std::chrono::nanoseconds::max();
  if (!(ahead > -century) || !(t > now)) return std::chrono::nanoseconds::zero();
  return std::chrono::ceil<std::chrono::nanoseconds>(t - now);
}

/// wait(limit), until it says yes or it is `t` by its own clock, which may be set, and run faster or slower than ours.
template <class Clock, class Duration, class Wait>
bool by_clock(std::chrono::time_point<Clock, Duration> t, Wait wait) {
  for (;;) {
    if (wait(limit_after(time_left(t)))) return true;
    if (time_left(t).count() == 0) return false;
  }
}

class timer {
 public:
  timer() = default;
  /// Its thread is called name:timer. `name` must last as long.
  explicit timer(std::string_view name) noexcept : name_{name} {}
  timer(timer const&) = delete;
  timer& operator=(timer const&) = delete;
  ~timer() { stop(); }

  /// A place for one waiter, so that adding it later cannot fail. Starts the thread. Throws std::bad_alloc, std::system_error.
  class ticket {
   public:
    ticket(timer& t, waiter& w, time_point when);
    ticket(ticket const&) = delete;
    ticket& operator=(ticket const&) = delete;
    /// Cancels: afterwards the timer does not know the waiter, and has woken it or never will.
    ~ticket();
    /// From now on the timer may claim and wake the waiter.
    void start() noexcept;
    /// The timer has claimed it. After the waiter was woken.
    bool expired() const noexcept { return limit_.expired; }

   private:
    friend class timer;
    using key = std::pair<time_point, ticket*>;
    timer& timer_;
    basic_time_limit<std_sync, waiter> limit_;
    std::set<key> own_;  // the one node, until it is the timer's
    std::set<key>::const_iterator at_;
  };

  /// Calls f(with) once, after `delay`, on the timer's thread; an earlier request that still waits is dropped. Nothing if there is no thread
  /// to be had.
  void call_after(std::chrono::milliseconds delay, void (*f)(void*) noexcept, void* with) noexcept;
  /// Does nobody wait for a point in time?
  bool idle() noexcept;

  /// Ends the thread. Nobody waits any more.
  void stop() noexcept;

 private:
  void start_thread();
  void loop() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<ticket::key> queue_;
  struct {
    time_point when = time_point::max();
    void (*f)(void*) noexcept = nullptr;
    void* with = nullptr;
  } call_;
  std::string_view const name_;
  std::thread thread_;
  bool stopping_ = false;
};

}  // namespace nopal::core

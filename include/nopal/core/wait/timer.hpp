#pragma once

// Time limits: one thread a pool, made when first needed, wakes whoever waits until a point in time. A sleeping fiber costs neither a worker nor
// a thread of its own. README.md, "Time limits". Next: basic_deadline.hpp, what the timer and a waiter share.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/wait/basic_deadline.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/waiter.hpp"

namespace nopal::core {

class timer_entry;

class timer {
 public:
  timer() = default;
  /// Its thread is called name:timer.
  explicit timer(std::string name) noexcept : name_{std::move(name)} {}
  timer(timer const&) = delete;
  timer& operator=(timer const&) = delete;
  ~timer() { stop(); }

  /// Calls f(with) once, after `delay`, on the timer's thread; an earlier request that still waits is dropped. Nothing if there is no thread
  /// to be had.
  void call_after(std::chrono::milliseconds delay, void (*f)(void*) noexcept, void* with) noexcept;
  /// Does nobody wait for a point in time?
  bool idle() noexcept;

  /// Ends the thread. Nobody waits any more.
  void stop() noexcept;

 private:
  friend class timer_entry;
  using key = std::pair<time_point, timer_entry*>;

  void start_thread();
  void loop() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<key> queue_;
  struct {
    time_point when = time_point::max();
    void (*f)(void*) noexcept = nullptr;
    void* with = nullptr;
  } call_;
  std::string const name_;
  std::thread thread_;
  bool stopping_ = false;
};

/// A place in the timer for one waiter, so that starting it later cannot fail.
class timer_entry {
 public:
  /// Starts the timer's thread. Throws std::bad_alloc, std::system_error.
  timer_entry(timer& t, waiter& w, time_point when);
  timer_entry(timer_entry const&) = delete;
  timer_entry& operator=(timer_entry const&) = delete;
  /// Cancels: afterwards the timer does not know the waiter, and has woken it or never will.
  ~timer_entry();
  /// From now on the timer may claim and wake the waiter.
  void start() noexcept;
  /// The timer has claimed it. After the waiter was woken.
  bool expired() const noexcept { return limit_.expired; }

 private:
  friend class timer;
  timer& timer_;
  basic_deadline<std_sync, waiter> limit_;
  std::set<timer::key> own_;  // the one node, until it is the timer's
  std::set<timer::key>::const_iterator at_;
};

}  // namespace nopal::core

#pragma once

// What the timer and one waiter share: the part of a timer entry that a model checks. Both the timer and the waker may want to wake the
// waiter; the one that claims it does: README.md, "Time limits". Below: the timer.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/wait/waiter.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The timer's mutex guards all of it. The waiter takes that mutex once more before its frame ends. Once woken, it may also read `expired`
/// without the mutex: only the claimer writes it, before the wake-up.
template <class Sync, class Waiter>
struct basic_deadline {
  Waiter& who;
  typename Sync::template plain<bool> waits{false};    ///< the timer has the entry in its queue
  typename Sync::template plain<bool> expired{false};  ///< the timer has claimed the waiter

  /// Wakes the waiter, unless another thread has claimed it. By the timer, when the deadline expires, under its mutex.
  void expire() noexcept {
    waits = false;
    if (!who.claim()) return;
    expired = true;
    who.wake();
  }
};

// The timer: one thread a pool, started when it is first needed, which wakes waiters whose deadline expires. So a sleeping fiber costs
// neither a worker nor a thread of its own. Stacks of workers use it; threads off a pool time their own sleep. README.md, "Time limits".
// Above: what the timer and a waiter share.

class observer;
class timer_entry;

class timer {
 public:
  timer() = default;
  /// Its thread is named name:timer.
  explicit timer(std::string name) noexcept : name_{std::move(name)} {}
  timer(timer const&) = delete;
  timer& operator=(timer const&) = delete;
  ~timer() { stop(); }

  /// What is called later: at most one request of each kind is pending.
  enum class later : unsigned char { report, trim, due, high, low, events };
  /// Calls f(with) once, after `delay`, on the timer's thread. Replaces an earlier request of the same kind that has not run yet. False:
  /// the thread cannot be started, and nothing will be called. Any thread.
  bool call_after(later what, std::chrono::nanoseconds delay, void (*f)(void*) noexcept, void* with) noexcept;
  /// As call_after, by the timer's thread, which may hold its mutex. For what a waiter that it wakes calls.
  void call_after_here(later what, std::chrono::nanoseconds delay, void (*f)(void*) noexcept, void* with) noexcept;
  /// True if the caller is the timer's thread.
  bool is_here() const noexcept;
  /// True if the queue of entries is empty. Any thread.
  bool idle() noexcept;

  /// The pool's observer, which gets a call when the thread begins and ends; null: there is none. Before any entry.
  void is_observed(observer* by) noexcept { observed_ = by; }
  /// Under a controlled schedule: before it wakes what is due, the timer waits until the workers are at rest. So what has run until then
  /// does not depend on the machine's time. Before any entry.
  void wait_for_rest() noexcept { waits_for_rest_ = true; }
  /// Starts the thread, so that no waiter has to wait until it has begun. Throws std::system_error.
  void start();
  /// Ends the thread. By the end of the pool, when no entry exists any more.
  void stop() noexcept;

 private:
  friend class timer_entry;
  /// Of entries that are due at the same time, the one that has waited longest comes first.
  struct key {
    time_point when;
    std::uint64_t number;
    timer_entry* entry;
    bool operator<(key const& other) const noexcept { return std::tie(when, number) < std::tie(other.when, other.number); }
  };

  void start_thread();
  void loop() noexcept;
  void serve() noexcept;
  void changes() noexcept;

  own_mutex mutex_;
  std::atomic<std::uint32_t> changes_{0};  // of the first deadline, and of stopping_; the thread sleeps on it
  std::set<key> queue_;
  std::uint64_t entries_ = 0;  // entries that have entered the queue so far
  observer* observed_ = nullptr;
  bool waits_for_rest_ = false;
  struct request {
    time_point when = time_point::max();
    void (*f)(void*) noexcept = nullptr;
    void* with = nullptr;
  };
  std::array<request, 6> requests_;  // by `later`
  std::string const name_;
  std::thread thread_;
  bool stopping_ = false;
  bool calls_ = false;  // the thread runs a request, without the mutex; only that thread uses this
};

/// What may end one wait early: a place in the timer's queue, made before the waiter is published, so that starting it cannot fail; and a
/// request to stop, of the region in which the waiter runs. It is in the waiting frame. Making, starting and destroying it take O(log
/// entries).
class timer_entry {
 public:
  /// Starts the timer's thread, if it does not run yet. `t` and `region` may be null: there is no timer, or no region. Throws
  /// std::bad_alloc, std::system_error.
  timer_entry(timer* t, waiter& w, time_point when, stop_region* region);
  timer_entry(timer_entry const&) = delete;
  timer_entry& operator=(timer_entry const&) = delete;
  /// Cancels it: afterwards neither the timer nor the request knows the waiter. One of them has woken it before, or none ever will.
  ~timer_entry();
  /// Enters the queue, and listens to the request: from now on these may claim and wake the waiter.
  void start() noexcept;
  /// True if the timer or the request has claimed the waiter. By the waiter, once it was woken.
  bool expired() const noexcept { return limit_.expired || stop_.told; }

 private:
  friend class timer;
  void start_timer() noexcept;

  timer* const timer_;
  stop_region* const region_;
  basic_deadline<std_sync, waiter> limit_;
  basic_stop_wait<std_sync, waiter> stop_;
  std::set<timer::key> own_;  // holds the entry's node until start() moves it into the timer's queue
  std::set<timer::key>::const_iterator at_;
};

}  // namespace nopal::core

#pragma once

// counter: how fibers wait for each other. It is counted up and down by anyone, and whoever waits for a value parks until it is reached.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

#include "nopal/core/timer.hpp"
#include "nopal/core/waiter.hpp"
#include "nopal/task.hpp"

namespace nopal {

class counter;

namespace core {

struct counter_waiter : waiter {
  std::int64_t target = 0;
};

/// co_await left.reaches(0). The coroutine's native stack waits, so it may also wait between fork and join.
struct reach_awaiter : awaitable_tag {
  counter* what;
  std::int64_t target;
  reach_awaiter in(frame&) noexcept { return *this; }
  bool await_ready() const;
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

/// Hands on what a fiber has thrown, before it is counted; without a counter it ends the program.
NOPAL_COLD void fail_fiber(counter* c, std::exception_ptr e) noexcept;
[[noreturn]] NOPAL_COLD void die_fiber(std::exception_ptr const& e, char const* remedy) noexcept;

}  // namespace core

/// A number that stacks, coroutines and threads wait for: until it is at most some value. Any thread may use it; each operation is
/// atomic. It must not be destroyed while somebody waits for it or a fiber still counts it down: that ends the program with a message.
///
///     nopal::counter left;
///     for (auto& item : items) nopal::spawn(left, [&] { cook(item); });
///     nopal::wait_for(left);
class counter {
 public:
  explicit counter(std::int64_t n = 0) noexcept : word_{n * one} {}
  counter(counter const&) = delete;
  counter& operator=(counter const&) = delete;
  ~counter() {
    // acquire: pairs with the last done. Besides 0, a negative value is fine.
    if (std::int64_t const w = word_.load(std::memory_order_acquire); (w & flags) != 0 || w > 0) [[unlikely]] check_destroyed();
  }

  /// relaxed: nobody waits for more.
  void add(std::int64_t n = 1) noexcept { word_.fetch_add(n * one, std::memory_order_relaxed); }
  /// Wakes whoever waits for the value that this brings: O(waiters). One read-modify-write where nobody waits for more than 0, which is
  /// not reached.
  void done(std::int64_t n = 1) noexcept {
    std::int64_t w = word_.load(std::memory_order_relaxed);  // relaxed: the exchange looks again
    // acq_rel: whoever waits sees what came before every done. A compare-exchange, and not a subtraction: where this may wake somebody,
    // the last touch of the counter must be the unlocking, after which a waiter may destroy it.
    while ((w & (waited_for | locked)) == 0 || ((w & (wanted_early | locked)) == 0 && w > n * one + flags)) {
      if (word_.compare_exchange_weak(w, w - n * one, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
    }
    done_slowly(n);
  }
  /// acquire: pairs with done
  std::int64_t load() const noexcept { return word_.load(std::memory_order_acquire) >> shift; }

  /// To be awaited in a task: `co_await left.reaches(0)`.
  core::reach_awaiter reaches(std::int64_t value) noexcept { return {{}, this, value}; }

 private:
  friend void wait_for(counter& c, std::int64_t value);
  friend bool wait_until(counter& c, std::int64_t value, core::time_point limit);
  friend void core::fail_fiber(counter* c, std::exception_ptr e) noexcept;

  static constexpr std::int64_t locked = 1;      ///< somebody is at the waiters: short
  static constexpr std::int64_t waited_for = 2;  ///< there are waiters
  static constexpr std::int64_t thrown = 4;      ///< error_ is set
  static constexpr std::int64_t wanted_early = 8;  ///< some of them may wait for more than 0
  static constexpr std::int64_t flags = 15;
  static constexpr int shift = 4;
  static constexpr std::int64_t one = 1 << shift;

  bool reached(std::int64_t value) noexcept;
  bool enqueue(core::counter_waiter& w, core::timer::ticket* limit) noexcept;
  void forget(core::counter_waiter& w) noexcept;
  void lock() noexcept;
  void unlock() noexcept;
  void rethrow_if_thrown();
  NOPAL_COLD void done_slowly(std::int64_t n) noexcept;
  NOPAL_COLD void failed(std::exception_ptr e) noexcept;
  NOPAL_COLD void check_destroyed() noexcept;

  // | value, signed, 60 bits | wanted_early 8 | thrown 4 | waited_for 2 | locked 1 |
  std::atomic<std::int64_t> word_;
  // Under the lock.
  core::counter_waiter* waiters_ = nullptr;
  std::exception_ptr error_;
};

/// Parks until `c` is at most `value`: the fiber, task or function leaves its native stack, and the worker does something else; a thread
/// that works for no pool sleeps. Rethrows the first exception that has left a fiber spawned with `c`, once. O(1).
void wait_for(counter& c, std::int64_t value = 0);
/// The same with a time limit. False: it came first. Throws std::bad_alloc, std::system_error where there is no memory or thread for
/// time limits.
bool wait_until(counter& c, std::int64_t value, core::time_point limit);
template <class Rep, class Period>
bool wait_for(counter& c, std::int64_t value, std::chrono::duration<Rep, Period> timeout) {
  return wait_until(c, value, core::limit_after(timeout));
}

inline bool core::reach_awaiter::await_ready() const {
  wait_for(*what, target);
  return true;
}

}  // namespace nopal

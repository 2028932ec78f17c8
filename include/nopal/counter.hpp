#pragma once

// counter: how fibers wait for each other. It is counted up and down by anyone, and whoever waits for a value parks until it is reached.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "nopal/core/wait/basic_counter.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/task.hpp"

namespace nopal {

class counter;

namespace core {

template <class F, class Counter>
struct fiber_record;

/// co_await left.reaches(0).
class reach_awaiter : public stack_awaiter {
 public:
  reach_awaiter(counter& c, std::int64_t target, frame& t) noexcept : stack_awaiter{t}, what_{c}, target_{target} {}
  bool await_ready();
  void await_resume() const { rethrow_if_failed(); }

 private:
  counter& what_;
  std::int64_t target_;
};
struct reach : awaitable_tag {
  counter& what;
  std::int64_t target;
  reach_awaiter in(frame& task) const noexcept { return {what, target, task}; }
};

/// Hands on what a fiber has thrown, before it is counted; without a counter it ends the program.
NOPAL_API NOPAL_COLD void fail_fiber(counter* c, std::exception_ptr e) noexcept;
[[noreturn]] NOPAL_COLD void die_fiber(std::exception_ptr const& e, char const* remedy) noexcept;

}  // namespace core

/// A number that stacks, coroutines and threads wait for: until it is at most some value. Any thread may use it; each operation is
/// atomic. It must not be destroyed while somebody waits for it or a fiber still counts it down: that ends the program with a message.
///
///     nopal::counter left;
///     for (auto& item : items) nopal::spawn(left, [&] { cook(item); });
///     nopal::wait_for(left);
class NOPAL_API counter {
 public:
  explicit counter(std::int64_t n = 0) noexcept : word_{n, core::current_or_null()} {}
  counter(counter const&) = delete;
  counter& operator=(counter const&) = delete;
  ~counter() {
    if (!word_.at_rest()) [[unlikely]] check_destroyed();
  }

  /// Without a read-modify-write by the worker on which the counter was made. A negative `n` counts down, as done(-n).
  void add(std::int64_t n = 1) noexcept {
    if (n < 0) [[unlikely]] return count_down(-n);
    count_up(n);
  }
  /// Wakes whoever waits for the value that this brings: O(waiters). One read-modify-write where nobody waits for more than 0, which is
  /// not reached. A negative `n` counts up, as add(-n).
  void done(std::int64_t n = 1) noexcept {
    if (n < 0) [[unlikely]] return count_up(-n);
    count_down(n);
  }
  std::int64_t load() const noexcept { return word_.load(); }

  /// To be awaited in a task: `co_await left.reaches(0)`.
  core::reach reaches(std::int64_t value) noexcept { return {{}, *this, value}; }

 private:
  friend void wait_for(counter& c, std::int64_t value);
  friend bool wait_until(counter& c, std::int64_t value, core::time_point limit);
  friend void core::fail_fiber(counter* c, std::exception_ptr e) noexcept;
  template <class F, class Counter>
  friend struct core::fiber_record;

  /// A fiber has ended, by `e` if it is not null; `c` is null if nobody counts it.
  NOPAL_INLINE static void fiber_ended(counter* c, std::exception_ptr e) noexcept {
    if (e != nullptr) [[unlikely]] core::fail_fiber(c, std::move(e));
    if (c != nullptr) c->done();
  }

  void count_up(std::int64_t n) noexcept { word_.add(n, core::current_or_null()); }
  void count_down(std::int64_t n) noexcept {
    if (!word_.done_if_quiet(n)) done_slowly(n);
  }
  void rethrow_if_thrown();
  NOPAL_COLD void done_slowly(std::int64_t n) noexcept;
  NOPAL_COLD void failed(std::exception_ptr e) noexcept;
  NOPAL_COLD void check_destroyed() noexcept;

  core::basic_counter<core::stack_waits> word_;
};

/// Parks until `c` is at most `value`: the fiber, task or function leaves its native stack, and the worker does something else; a thread
/// that works for no pool sleeps. Rethrows the first exception that has left a fiber spawned with `c`, once. O(1).
NOPAL_API void wait_for(counter& c, std::int64_t value = 0);
/// The same with a time limit. False: it came first. Throws std::bad_alloc, std::system_error where there is no memory or thread for
/// time limits.
NOPAL_API bool wait_until(counter& c, std::int64_t value, core::time_point limit);
/// By whatever clock.
template <class Clock, class Duration>
bool wait_until(counter& c, std::int64_t value, std::chrono::time_point<Clock, Duration> limit) {
  return core::by_clock(limit, [&](core::time_point t) { return wait_until(c, value, t); });
}
template <class Rep, class Period>
bool wait_for(counter& c, std::int64_t value, std::chrono::duration<Rep, Period> timeout) {
  return wait_until(c, value, core::deadline_after(timeout));
}

inline bool core::reach_awaiter::await_ready() {
  return wait([this] { wait_for(what_, target_); });
}

}  // namespace nopal

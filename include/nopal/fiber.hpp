#pragma once

// Fibers: green threads on the workers of a pool. A fiber is a closure in its worker's deque until it starts, then whatever runs on a
// native stack; where it waits, the stack is left. Fibers, tasks and ordinary functions wait for each other.

#include "nopal/core/compiler/config.hpp"

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "nopal/channel.hpp"
#include "nopal/condition_variable.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/counter.hpp"
#include "nopal/mutex.hpp"
#include "nopal/named.hpp"
#include "nopal/pool.hpp"
#include "nopal/semaphore.hpp"

namespace nopal {

namespace core {

/// A fiber that has not started.
template <class F>
struct fiber final : resumable {
  counter* done;
  F f;

  template <class G>
  fiber(counter* c, G&& closure) : resumable{start}, done{c}, f(static_cast<G&&>(closure)) {}

  static void start(resumable& r, worker& w) noexcept {
    w.begin_job();
    auto* const self = static_cast<fiber*>(&r);
    std::exception_ptr error;
    try {
      static_cast<void>(static_cast<called_once<F>>(self->f)());
    } catch (...) {
      error = std::current_exception();
    }
    counter* const c = self->done;
    self->~fiber();
    worker& now = *current();
    now.blocks.put(self, sizeof(fiber));
    now.end_job();
    if (error != nullptr) [[unlikely]] fail_fiber(c, std::move(error));
    if (c != nullptr) c->done();
    current()->count.add(counted::fibers_finished, std::memory_order_release);  // pairs with wait_for_all
  }
};

/// `to`: null where the caller works, or on the default pool.
template <class closure, class F>
NOPAL_INLINE void spawn_checked(pool_state* to, counter* c, F&& f) {
  using record = fiber<closure>;
  struct unspawned {  // until nothing can fail any more
    void* at;
    record* made = nullptr;
    ~unspawned() {
      if (made != nullptr) std::destroy_at(made);
      ::operator delete(at);
    }
    resumable& release() noexcept {
      at = nullptr;
      return *std::exchange(made, nullptr);
    }
  };
  worker* w = current_or_null();
  if (to != nullptr && w != nullptr && &w->pool() != to) w = nullptr;
  unspawned r{w != nullptr ? w->blocks.get(sizeof(record)) : ::operator new(central_block_list::rounded(sizeof(record)))};
  r.made = ::new (r.at) record{c, static_cast<F&&>(f)};
  if (w != nullptr) [[likely]] {
    worker* const now = current();  // copying the closure may have left the stack
    now->make_room_for_ready();
    now->count.add(counted::fibers_spawned);  // before it can finish
    now->make_ready(r.release());
  } else {
    spawn_from_outside(to != nullptr ? *to : default_pool().state(), r.release());
  }
}
template <class F>
NOPAL_INLINE void spawn(pool_state* to, counter* c, F&& f) {
  using closure = std::decay_t<F>;
  using called = called_once<closure>;
  constexpr bool callable = std::is_invocable_v<called>;
  static_assert(callable, "nopal: spawn takes something to be called without arguments. Write spawn([=] { f(a, b); }) for f(a, b).");
  constexpr bool ordinary = !returns_task<called>;
  static_assert(ordinary, "nopal: a fiber is an ordinary function. Write spawn([=] { nopal::sync_wait(f, a); }) for a coroutine function f.");
  constexpr bool kept = std::is_constructible_v<closure, F&&>;
  static_assert(kept, "nopal: spawn keeps its closure by value, and this one cannot be copied. Write spawn(std::move(f)).");
  constexpr bool aligned = alignof(closure) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  static_assert(aligned, "nopal: a fiber's closure is aligned to at most 16 bytes. Capture a pointer to what needs more.");
  if constexpr (callable && ordinary && kept && aligned) spawn_checked<closure>(to, c, static_cast<F&&>(f));
}
/// The same, and `c` counts it.
template <class F>
NOPAL_INLINE void spawn_counted(pool_state* to, counter& c, F&& f) {
  c.add();
  try {
    spawn(to, &c, static_cast<F&&>(f));
  } catch (...) {
    c.done();
    throw;
  }
}

}  // namespace core

/// Starts f() some time, on some worker of the caller's pool, or of default_pool() off a pool. `f` is moved or copied first. It takes a
/// stack when it starts, not before: a fiber that waits to start costs its closure and less than 64 bytes. An exception that leaves it
/// ends the program with its message: give a counter, and wait_for rethrows it. Throws std::bad_alloc. The pool's destructor waits for it.
template <class F>
void spawn(F&& f) {
  core::spawn(nullptr, nullptr, static_cast<F&&>(f));
}
/// The same, and `c` counts it: up now, down when it has ended.
template <class F>
void spawn(counter& c, F&& f) {
  core::spawn_counted(nullptr, c, static_cast<F&&>(f));
}
template <class F>
void pool::spawn(F&& f) {
  core::spawn(&scheduler_->state(), nullptr, static_cast<F&&>(f));
}
template <class F>
void pool::spawn(counter& c, F&& f) {
  core::spawn_counted(&scheduler_->state(), c, static_cast<F&&>(f));
}

/// Lets everything run that waits for the caller's worker. Off a pool: std::this_thread::yield().
NOPAL_API void yield() noexcept;

/// Parks for a time; off a pool the thread sleeps. Throws std::bad_alloc, std::system_error where there is no memory or thread for
/// time limits.
NOPAL_API void sleep_until(std::chrono::steady_clock::time_point t);
template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> d) {
  sleep_until(core::deadline_after(d));
}
template <class Clock, class Duration>
void sleep_until(std::chrono::time_point<Clock, Duration> t) {
  for (auto left = core::time_left(t); left.count() > 0; left = core::time_left(t)) sleep_for(left);
}

}  // namespace nopal

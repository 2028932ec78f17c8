#pragma once

// What GCC and Clang do differently with coroutines, so that the rest of the library need not know. Below: the promise.

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/eventually.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What await_transform returns for an awaiter that is part of the promise. Without it a fork costs 8 instructions more with GCC.
#if defined(__clang__)
template <class A>
using awaiter_of_promise = A&;
#else  // GCC copies an awaiter that is an lvalue, so it gets a small one that refers to the promise.
template <class A>
struct awaiter_of_promise {
  A& promise;
  NOPAL_INLINE awaiter_of_promise(A& p) noexcept : promise{p} {}
  NOPAL_INLINE bool await_ready() noexcept { return promise.await_ready(); }
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<> h) { return promise.await_suspend(h); }
  NOPAL_INLINE void await_resume() { promise.await_resume(); }
};
#endif

}  // namespace nopal::core

namespace nopal::inline NOPAL_ABI {

// A task's promise: what the compiler makes of `task<T> f(...)`. Its memory is the rest of core::frame. Called only by the worker that
// starts or runs the task. Next: frame.hpp, what the core reads of it; arena.hpp, which holds it; awaiters.hpp, what a task awaits.

template <class T>
class NOPAL_PROFILED task;

namespace core {

template <kind How, std::uintptr_t Bits, class F, class... P>
class child_awaitable;
template <class T, class Awaitable>
class value_call;

/// How a task awaits an A that is not nopal's. A companion that knows such types specialises this, with a function
/// `static auto in(A&& what, frame& task)`, also for lvalues, which returns an awaiter derived from stack_awaiter.
template <class A>
struct foreign_awaitable {};

/// The part of a task's promise that does not depend on its result.
class promise_base : public join_awaiter {
 public:
  NOPAL_INLINE explicit promise_base(fork_state& here) noexcept {
    std::uintptr_t parent = here.parent_word;
#ifndef NDEBUG
    // The starter of a task stores its parent just before, and that is used once. This check costs three instructions a task. Without it,
    // in builds with NDEBUG, a task's function that an ordinary function calls directly is still found out; one that a task calls directly
    // is not.
    if (std::exchange(here.parent_word, 0) == 0) die_called_directly();
#endif
    // Keeps the compiler from loading this word together with the slot: the parent stored them one by one, and a processor does not forward
    // two stores to one load, but waits until both are in the cache. 5 ns a fork.
    asm("" : "+r"(parent));
    self().birth(parent);
  }

  static void* operator new(std::size_t n) {
    fork_state& here = *state_here();
    void* p;
    if (here.arena.bump(arena::rounded(n), p)) [[likely]]
      return p;
    return grow_arena(here, arena::rounded(n));
  }
  static void operator delete(void* p, std::size_t) noexcept { state_here()->arena.release(p); }

  // Eager nested start: the child's body runs inside the call that makes it, and the frame is gone when it returns.
  NOPAL_INLINE std::suspend_never initial_suspend() const noexcept { return {}; }
  NOPAL_INLINE std::suspend_never final_suspend() const noexcept { return {}; }

  NOPAL_COLD void unhandled_exception() noexcept {
    if (self().parent() == nullptr) die_called_directly();
    if ((self().state & frame::open) != 0) die_unjoined(core::caught());
    child_threw(*current());
  }

  /// The only overload; its parameter has this name since a compiler's message for `co_await f()`, where f returns void, names both.
  template <class nopal_what_returns_void_is_called_without_co_await>
  NOPAL_INLINE decltype(auto) await_transform(nopal_what_returns_void_is_called_without_co_await&& what) {
    return awaiter_of(static_cast<nopal_what_returns_void_is_called_without_co_await&&>(what));
  }

 private:
  NOPAL_INLINE awaiter_of_promise<join_awaiter> awaiter_of(join_tag) noexcept { return *this; }
  template <std::uintptr_t B, class F, class... P>
  NOPAL_INLINE call_awaiter awaiter_of(child_awaitable<called, B, F, P...>&& child) {
    child.start(&self());
    return {};
  }
  template <std::uintptr_t B, class F, class... P>
#if defined(__clang__)
  NOPAL_INLINE child_awaitable<forked, B, F, P...>&& awaiter_of(child_awaitable<forked, B, F, P...>&& child) noexcept {
    return std::move(child);
  }
#else  // GCC copies the awaiter into the coroutine's frame, beside what it was made from: so that is a small one that refers to the child.
  NOPAL_INLINE auto awaiter_of(child_awaitable<forked, B, F, P...>&& child) noexcept {
    struct awaiter {
      child_awaitable<forked, B, F, P...>* to_start;
      frame* parent;
      NOPAL_INLINE bool await_ready() const noexcept { return false; }
      NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<>) { return to_start->launch(parent); }
      NOPAL_INLINE void await_resume() const noexcept {}
    };
    return awaiter{std::addressof(child), &self()};
  }
#endif
  template <class T, class Awaitable>
  NOPAL_INLINE value_call<T, Awaitable> awaiter_of(value_call<T, Awaitable>&& call) {
    return {std::move(call), &self()};
  }
  template <class A>
  NOPAL_INLINE auto awaiter_of(A&& a) {
    using awaited = std::remove_cvref_t<A>;
    constexpr bool is_foreign = requires(frame& task) { foreign_awaitable<awaited>::in(static_cast<A&&>(a), task); };
    static_assert(!is_task<awaited>,
                  "nopal: a task is not awaited directly. Write co_await nopal::call(f, args...) instead of co_await f(args...).");
    static_assert(!std::is_same_v<awaited, waited>,
                  "nopal: this is called, and not awaited. Write nopal::yield(); or nopal::wait_for(left); without co_await: the task's "
                  "worker does something else meanwhile.");
    static_assert(std::derived_from<awaited, awaitable_tag> || is_foreign || std::is_same_v<awaited, waited> || is_task<awaited> ||
                      std::is_same_v<awaited, refused>,
                  "nopal: a task can await only fork, call, join, stack_array, resume_on, a future, counter::reaches, sleep_for, "
                  "sleep_until, and pop, push, lock, acquire of nopal's channel, mutex, semaphore. All else is called without co_await, "
                  "also where it waits: auto v = channel.try_pop_for(d);");
    if constexpr (std::derived_from<awaited, awaitable_tag>) {
      return static_cast<A&&>(a).in(self());
    } else if constexpr (is_foreign) {
      return foreign_awaitable<awaited>::in(static_cast<A&&>(a), self());
    } else {
      return refused{};
    }
  }

 protected:
  NOPAL_INLINE void check_joined() noexcept {
    if (self().state != 0) [[unlikely]]
      die_unjoined(nullptr);
  }

 private:
  [[maybe_unused]] alignas(frame) std::byte rest_of_frame_[sizeof(frame) - 2 * sizeof(void*)];
};

// The compilers put a promise behind the frame's two pointers, rounded up to its alignment: at the place of `frame`'s third member.
static_assert(alignof(promise_base) <= 2 * sizeof(void*) && sizeof(promise_base) == sizeof(frame) - 2 * sizeof(void*),
              "nopal: a promise and the frame's two pointers make up a core::frame");

template <class T>
class promise : public promise_base {
 public:
  NOPAL_INLINE promise() noexcept : promise{*state_here()} {}
  NOPAL_INLINE task<T> get_return_object() noexcept { return task<T>{nullptr}; }

  NOPAL_COLD void unhandled_exception() noexcept {
    if constexpr (!std::is_reference_v<T>) empty_slot<T>(self().parent_word, self().slot);
    promise_base::unhandled_exception();
  }

  template <class U = T>
    requires std::convertible_to<U&&, T>
  NOPAL_INLINE void return_value(U&& value) {
    check_joined();
    void* const to = self().slot;
    using source = decltype(core::source_of<T>(static_cast<U&&>(value)));
    if constexpr (std::is_reference_v<T>) {
      put(to, std::addressof(static_cast<T>(value)));
    } else if constexpr (is_word<T>) {
      put(to, static_cast<T>(static_cast<source>(value)));
    } else if (to == nullptr) {
      return;
    } else if ((self().parent_word & constructs) != 0) {
      if ((self().parent_word & engages) != 0) {
        static_cast<std::optional<T>*>(to)->emplace(static_cast<source>(value));
      } else {
        static_cast<eventually<T>*>(to)->emplace(static_cast<source>(value));
      }
    } else if constexpr (std::is_assignable_v<T&, source>) {
      *static_cast<T*>(to) = static_cast<source>(value);
    } else if constexpr (std::is_move_assignable_v<T>) {
      *static_cast<T*>(to) = T(static_cast<source>(value));
    }
  }

 private:
  NOPAL_INLINE explicit promise(fork_state& here) noexcept : promise_base{here} { self().slot = here.slot; }

  // relaxed, and no partner is needed: a reader of the slot comes after the join, the call or the job's end, which orders the two. Or the
  // place is worker::sink, which many tasks that drop their results write, and which is never read: an atomic store makes that no race.
  template <class W>
  NOPAL_INLINE static void put(void* to, W word) noexcept {
    __atomic_store(static_cast<W*>(to), std::addressof(word), __ATOMIC_RELAXED);
  }
};

template <>
class promise<void> : public promise_base {
 public:
  NOPAL_INLINE promise() noexcept : promise_base{*state_here()} {}
  NOPAL_INLINE task<void> get_return_object() noexcept;
  NOPAL_INLINE void return_void() noexcept { check_joined(); }
};
static_assert(sizeof(promise<void>) == sizeof(promise_base) && sizeof(promise<int>) == sizeof(promise_base) &&
                  alignof(promise<int>) == alignof(promise_base),
              "nopal: what is added to promise_base would move it within the frame");

}  // namespace core

}  // namespace nopal

#pragma once

// Coroutine tasks: fork, call, join. The library's fork path begins here.
//
// A fork publishes its suspended parent and then *calls* the child, as a nested native call (eager nested start): an
// unstolen child returns like a function, and the native caller takes the parent back. See docs/fork-cost.md.

#include "nopal/core/compiler/config.hpp"

#include <bit>
#include <cassert>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "nopal/core/task/arguments.hpp"
#include "nopal/core/task/pack.hpp"
#include "nopal/core/scheduler/fork_state.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/eventually.hpp"

namespace nopal {

template <class T>
class task;

namespace core {

/// Marks what a nopal task may await.
struct awaitable_tag {};

/// Results that go to their slot in one relaxed store, so that a dropped one may go to a place that others write too. A word is aligned to
/// its size: for two ints side by side compilers would call a library that takes locks.
template <class T>
inline constexpr bool is_word = std::is_trivially_copyable_v<T> && alignof(T) >= sizeof(T) &&
                                (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

struct join_tag {
  explicit join_tag() = default;
};

template <kind How, std::uintptr_t Bits, class F, class... P>
class starter;
template <class T, class Start>
class value_call;

/// What awaits a frame's join. The promise itself is the awaiter, so that a join needs no place in the coroutine's frame.
struct frame_awaiter {
  NOPAL_INLINE frame& self() noexcept {
    return *reinterpret_cast<frame*>(reinterpret_cast<std::byte*>(this) - 2 * sizeof(void*));
  }
};

struct join_awaiter : frame_awaiter {
  NOPAL_INLINE bool await_ready() noexcept {
    frame& f = self();
    if (f.state > frame::open) [[unlikely]] return false;
    f.state = 0;
    return true;
  }
  NOPAL_INLINE bool await_suspend(std::coroutine_handle<>) {
    if (current()->join_or_throw(&self())) return true;
    // Said, so that await_resume's look is compiled only for tasks that the loop resumes: 8 instructions a fork.
    if (self().state != 0) __builtin_unreachable();
    return false;
  }
  NOPAL_INLINE void await_resume() {
    if (self().state != 0) [[unlikely]] current()->rethrow();
  }
};

/// What awaits a called child that has already run, as a nested call, when await_ready asks. Only if the child had to be left
/// does the parent suspend.
struct call_awaiter {
  bool disturbed = false;  // so that await_resume's look is compiled only for tasks that had to suspend, or nearly
  NOPAL_INLINE bool await_ready() const noexcept { return current()->undisturbed(); }
  template <class Promise>
  NOPAL_INLINE bool await_suspend(std::coroutine_handle<Promise> h) {
    disturbed = true;
    return current()->called_returned(static_cast<frame*>(h.address()));
  }
  NOPAL_INLINE void await_resume() const {
    if (disturbed && current()->must_throw()) [[unlikely]] current()->rethrow();
  }
};

/// Awaits by waiting on the task's native stack, which may also be between fork and join. What the wait throws there goes to the task as a
/// called child's exception does: once all that it has forked have ended, the one that serial execution would have met first.
class stack_awaiter : public awaitable_tag {
 public:
  bool await_suspend(std::coroutine_handle<>) const noexcept { return current()->join(&task_); }

 protected:
  explicit stack_awaiter(frame& task) noexcept : task_{task} {}
  /// For await_ready. False: it has thrown, and children run.
  template <class F>
  bool wait(F f) {
    if ((task_.state & frame::open) == 0) {
      f();
      return true;
    }
    try {
      f();
      return true;
    } catch (...) {
      task_.record(task_.steals(), std::current_exception());
    }
    task_.state |= frame::thrown;
    failed_ = true;
    return false;
  }
  void rethrow_if_failed() const {
    if (failed_) [[unlikely]] current()->rethrow();
  }

 private:
  frame& task_;
  bool failed_ = false;
};

#if defined(__clang__)
template <class A>
using awaiter_of_promise = A&;
#else  // GCC copies an awaiter that is an lvalue: give it a small one that refers to the promise.
template <class A>
struct awaiter_of_promise {
  A& promise;
  NOPAL_INLINE awaiter_of_promise(A& p) noexcept : promise{p} {}
  NOPAL_INLINE bool await_ready() noexcept { return promise.await_ready(); }
  NOPAL_INLINE bool await_suspend(std::coroutine_handle<> h) { return promise.await_suspend(h); }
  NOPAL_INLINE void await_resume() { promise.await_resume(); }
};
#endif

/// What every task's promise does, whatever its result.
class promise_base : public join_awaiter {
 public:
  NOPAL_INLINE explicit promise_base(fork_state& here) noexcept {
    std::uintptr_t parent = here.parent_word;
#ifndef NDEBUG
    // Whoever starts a task says for whom just before; once. Without this look, three instructions a task: what an ordinary function calls
    // directly is found out, what a task does is not.
    if (std::exchange(here.parent_word, 0) == 0) die_called_directly();
#endif
    // Not to be loaded together with the slot: the parent stored them one by one, and a processor does not forward two stores to one load,
    // but waits until both are in the cache. 5 ns a fork.
    asm("" : "+r"(parent));
    self().birth(parent);
  }

  static void* operator new(std::size_t n) { return state_here()->allocate(arena::rounded(n)); }
  static void operator delete(void* p, std::size_t) noexcept { state_here()->arena.release(p); }

  // Eager nested start: the child's body runs inside the call that makes it, and the frame is gone when it returns.
  NOPAL_INLINE std::suspend_never initial_suspend() const noexcept { return {}; }
  NOPAL_INLINE std::suspend_never final_suspend() const noexcept { return {}; }

  NOPAL_COLD void unhandled_exception() noexcept {
    if (self().parent() == nullptr) die_called_directly();
    if ((self().state & frame::open) != 0) die_unjoined(std::current_exception());
    current()->child_threw();
  }

  NOPAL_INLINE awaiter_of_promise<join_awaiter> await_transform(join_tag) noexcept { return *this; }
  template <std::uintptr_t B, class F, class... P>
  NOPAL_INLINE call_awaiter await_transform(starter<called, B, F, P...>&& s) {
    s.start(&self());
    return {};
  }
  template <std::uintptr_t B, class F, class... P>
#if defined(__clang__)
  NOPAL_INLINE starter<forked, B, F, P...>&& await_transform(starter<forked, B, F, P...>&& s) noexcept {
    return std::move(s);
  }
#else  // GCC copies the awaiter into the coroutine's frame, beside what it was made from, and looks its own address up there.
  NOPAL_INLINE auto await_transform(starter<forked, B, F, P...>&& s) noexcept {
    struct awaiter {
      starter<forked, B, F, P...>* s;
      frame* p;
      NOPAL_INLINE bool await_ready() const noexcept { return false; }
      NOPAL_INLINE bool await_suspend(std::coroutine_handle<>) { return s->launch(p); }
      NOPAL_INLINE void await_resume() const noexcept {}
    };
    return awaiter{&s, &self()};
  }
#endif
  template <class T, class Start>
  NOPAL_INLINE value_call<T, Start> await_transform(value_call<T, Start>&& c) {
    return {std::move(c), &self()};
  }
  template <class A>
  NOPAL_INLINE auto await_transform(A&& a) {
    using awaited = std::remove_cvref_t<A>;
    static_assert(!is_task<awaited>,
                  "nopal: a task is not awaited directly. Write co_await nopal::call(f, args...) instead of co_await f(args...).");
    static_assert(std::derived_from<awaited, awaitable_tag> || is_task<awaited> || std::is_same_v<awaited, refused>,
                  "nopal: a task can await only what nopal makes: fork, call, join, stack_array, resume_on, a future, "
                  "counter::reaches.");
    if constexpr (std::derived_from<awaited, awaitable_tag>) {
      return static_cast<A&&>(a).in(self());
    } else {
      return refused{};
    }
  }

 protected:
  NOPAL_INLINE void check_joined() noexcept {
    if (self().state != 0) [[unlikely]] die_unjoined(nullptr);
  }

 private:
  [[maybe_unused]] alignas(frame) std::byte rest_of_frame_[sizeof(frame) - 2 * sizeof(void*)];
};

/// The optional at `slot` as a task's slot: see `engages`.
template <class T>
NOPAL_INLINE void* engaged_slot(void* slot) noexcept {
  auto& optional = *static_cast<std::optional<T>*>(slot);
  if constexpr (is_word<T>) {
    struct alignas(T) bytes {
      unsigned char all[sizeof(T)]{};
    };
    T& value = optional.emplace(std::bit_cast<T>(bytes{}));
    assert(static_cast<void*>(std::addressof(value)) == slot);
    return std::addressof(value);
  } else {
    optional.reset();
    return slot;
  }
}
/// Such a task failed: the optional is empty again. (A T in it lies where the optional does, as has been asserted.)
template <class T>
NOPAL_COLD void disengage(void* slot) noexcept {
  static_cast<std::optional<T>*>(slot)->reset();
}
// The compilers put a promise behind the frame's two pointers, rounded up to its alignment: so it begins where `frame` goes on.
static_assert(alignof(promise_base) <= 2 * sizeof(void*) && sizeof(promise_base) == sizeof(frame) - 2 * sizeof(void*),
              "nopal: a promise and the frame's two pointers make up a core::frame");

template <class T>
class promise final : public promise_base {
 public:
  NOPAL_INLINE promise() noexcept : promise{*state_here()} {}
  NOPAL_INLINE task<T> get_return_object() noexcept { return task<T>{nullptr}; }

  NOPAL_COLD void unhandled_exception() noexcept {
    if constexpr (!std::is_reference_v<T>) {
      if ((self().parent_word & engages) != 0) disengage<T>(self().slot);
    }
    promise_base::unhandled_exception();
  }

  template <class U = T>
    requires std::convertible_to<U&&, T>
  NOPAL_INLINE void return_value(U&& value) {
    check_joined();
    void* const to = self().slot;
    if constexpr (std::is_reference_v<T>) {
      put(to, std::addressof(static_cast<T>(value)));
    } else if constexpr (is_word<T>) {
      put(to, static_cast<T>(static_cast<U&&>(value)));
    } else if (to == nullptr) {
      return;
    } else if ((self().parent_word & constructs) != 0) {
      if ((self().parent_word & engages) != 0) {
        static_cast<std::optional<T>*>(to)->emplace(static_cast<U&&>(value));
      } else {
        static_cast<eventually<T>*>(to)->emplace(static_cast<U&&>(value));
      }
    } else if constexpr (std::is_assignable_v<T&, U&&>) {
      *static_cast<T*>(to) = static_cast<U&&>(value);
    } else if constexpr (std::is_move_assignable_v<T>) {
      *static_cast<T*>(to) = T(static_cast<U&&>(value));
    }
  }

 private:
  NOPAL_INLINE explicit promise(fork_state& here) noexcept : promise_base{here} { self().slot = here.slot; }

  template <class W>
  NOPAL_INLINE static void put(void* to, W word) noexcept {
    __atomic_store(static_cast<W*>(to), &word, __ATOMIC_RELAXED);
  }
};

template <>
class promise<void> final : public promise_base {
 public:
  NOPAL_INLINE promise() noexcept : promise_base{*state_here()} {}
  NOPAL_INLINE task<void> get_return_object() noexcept;
  NOPAL_INLINE void return_void() noexcept { check_joined(); }
};
static_assert(sizeof(promise<void>) == sizeof(promise_base) && sizeof(promise<int>) == sizeof(promise_base) &&
                  alignof(promise<int>) == alignof(promise_base),
              "nopal: what is added to promise_base would move it within the frame");

}  // namespace core

/// What a coroutine function of nopal returns. It holds nothing: the result goes to the slot that fork or call was given.
/// A task is started by nopal::fork, nopal::call or a pool, never by calling its function directly.
template <class T = void>
class NOPAL_ENDS_BEFORE_IT_GOES
    [[nodiscard("nopal: start a task with nopal::fork, nopal::call or a pool, not by calling its function")]] task {
 public:
  using value_type = T;
  using promise_type = core::promise<T>;

 private:
  friend promise_type;
  explicit task(std::nullptr_t) noexcept {}
};

inline task<void> core::promise<void>::get_return_object() noexcept { return task<void>{nullptr}; }

/// `co_await nopal::join`: goes on when all children forked since the last join have ended. Rethrows the exception that serial
/// execution would have met first. Free of atomics when nothing was stolen.
inline constexpr core::join_tag join{};

namespace core {

/// One child about to start: what fork and call return. F: a pointer to what is invoked; P: its parameters as they are kept.
/// By-value arguments wait here until the child copies them; references refer to the caller's objects.
template <kind How, std::uintptr_t Bits, class F, class... P>
class starter : public awaitable_tag {
 public:
  using arguments = pack<P...>;
  using result = std::invoke_result_t<decltype(*std::declval<F&>()), P...>;
  static constexpr bool has_result = !std::is_void_v<typename result::value_type>;

  template <class... A>
  NOPAL_INLINE explicit starter(void* slot, F f, A&&... a) : slot_{slot}, f_{f}, args_{make_pack<P...>(static_cast<A&&>(a)...)} {}

  // Forks: the parent must be suspended, so that a thief can resume it, before the child starts.
  NOPAL_INLINE bool await_ready() const noexcept { return false; }
  template <class Promise>
  NOPAL_INLINE bool await_suspend(std::coroutine_handle<Promise> h) {
    return launch(static_cast<frame*>(h.address()));
  }
  NOPAL_INLINE bool launch(frame* p) {
    worker* const w = current();
    if (w->work.must_look()) [[unlikely]] return fork_slowly(p, slot_, f_, static_cast<passed&&>(args_));
    return fork<false>(p, w, slot_, f_, args_);
  }
  NOPAL_INLINE void await_resume() const noexcept {}

  // Calls: nobody else wants the parent, so the child runs at once, and the parent suspends only if it must.
  NOPAL_INLINE void start(frame* p) { start(p, slot_); }
  NOPAL_INLINE void start(frame* p, void* slot) {
    worker* const w = current();
    if (w->work.must_look()) [[unlikely]] {
      if constexpr ((Bits & refers_to_starter) != 0) {
        begin<true>(p, w, slot, f_, args_);
      } else {
        call_slowly(p, slot, f_, std::move(args_));
      }
    } else if constexpr ((Bits & refers_to_starter) != 0 || !std::is_trivially_copyable_v<arguments>) {
      begin<false>(p, w, slot, f_, args_);
    } else {
      arguments args = args_.hand_over();
      begin<false>(p, w, slot, f_, args);
    }
  }

 private:
  template <bool Slow>
  NOPAL_INLINE static bool fork(frame* const p, worker* before, void* const slot, F const f, arguments& kept) {
    // Everything is read out of the parent's frame before the parent is published: from then on a thief may run it.
    arguments args = kept.hand_over();
    p->state |= frame::open;
    before->work.push(reinterpret_cast<std::uintptr_t>(p));
    if (begin<Slow>(p, before, slot, f, args)) return true;
    worker* const w = current();
    if (w->work.pop()) [[likely]] return false;
    return w->forked_returned(p);
  }

  // True: the child's arguments are parked, and everything unwinds to the worker loop.
  template <bool Slow>
  NOPAL_INLINE static bool begin(frame* p, worker* w, void* slot, F f, arguments& args) {
    try {
      if constexpr (Slow) {
        if (w->look()) return park(p, slot, f, args);
      }
      w->parent_word = reinterpret_cast<std::uintptr_t>(p) + How + (Bits & parent_bits);  // frames are aligned: the low bits are free
      if constexpr ((Bits & engages) != 0) {
        w->slot = engaged_slot<typename result::value_type>(slot);
      } else if constexpr (has_result) {
        w->slot = slot;
      }
      args.apply([&](auto&... a) { (void)std::invoke(*f, static_cast<P&&>(a)...); });
    } catch (...) {
      if constexpr ((Bits & engages) != 0) disengage<typename result::value_type>(slot);
      current()->start_threw();
    }
    return false;
  }

  /// By value where that costs nothing: then the starter itself needs no memory.
  using passed = std::conditional_t<std::is_trivially_copyable_v<arguments>, arguments, arguments&>;
  NOPAL_COLD static bool fork_slowly(frame* p, void* slot, F f, passed args) { return fork<true>(p, current(), slot, f, args); }
  NOPAL_COLD static void call_slowly(frame* p, void* slot, F f, arguments args) {
    begin<true>(p, current(), slot, f, args);
  }
  /// The native stack is low: the arguments wait in the arena until the worker loop starts the child, at the stack's base.
  NOPAL_COLD static bool park(frame* p, void* slot, F f, arguments& args) {
    // What the child's references refer to stays where it is, in the suspended parent's frame.
    using kept = std::conditional_t<(Bits & refers_to_starter) != 0, arguments&, arguments>;
    struct parked : thunk {
      void* slot;
      F f;
      kept args;
      parked(frame* p, void* s, F function, arguments& a)
          : thunk{&parked::unpark, p, How}, slot{s}, f{function}, args{static_cast<kept&&>(a)} {}
      static void unpark(thunk* t) {
        auto* const self = static_cast<parked*>(t);
        void* const to = self->slot;
        F const function = self->f;
        kept args = static_cast<kept&&>(self->args);
        frame* const waiting = self->parent;
        self->~parked();
        current()->arena.release(self);
        current()->arena.tidy();
        begin<false>(waiting, current(), to, function, args);
      }
    };
    static_assert(alignof(parked) <= arena::alignment, "nopal: arguments of a task may be aligned to at most 16 bytes");
    current()->prepare_to_park();
    void* const at = current()->allocate_in_body(arena::rounded(sizeof(parked)));
    parked* t;
    try {
      t = ::new (at) parked{p, slot, f, args};
    } catch (...) {
      current()->arena.release(at);
      current()->arena.tidy();
      throw;
    }
    current()->park(t);
    return true;
  }

  // A task<void> has no result: then nothing is kept or handed over.
  struct no_slot {
    NOPAL_INLINE constexpr no_slot(void*) noexcept {}
    NOPAL_INLINE constexpr operator void*() const noexcept { return nullptr; }
  };
  [[no_unique_address]] std::conditional_t<has_result, void*, no_slot> slot_;
  F f_;
  [[no_unique_address]] arguments args_;
};

/// What `co_await call(f, args...)` awaits when there is no slot: the result lives here, in the parent's frame.
template <class T, class Start>
class value_call : public awaitable_tag {
 public:
  explicit value_call(Start s) : start_{std::move(s)} {}
  value_call(value_call&& o, frame* p) : start_{std::move(o.start_)}, parent_{p} {}

  NOPAL_INLINE bool await_ready() {
    start_.start(parent_, &result_);
    return current()->undisturbed();
  }
  template <class Promise>
  NOPAL_INLINE bool await_suspend(std::coroutine_handle<Promise>) {
    disturbed_ = true;
    return current()->called_returned(parent_);
  }
  NOPAL_INLINE T await_resume() {
    if (disturbed_ && current()->must_throw()) [[unlikely]] current()->rethrow();
    if constexpr (std::is_reference_v<T>) {
      return static_cast<T>(**result_);
    } else {
      return std::move(*result_);
    }
  }

 private:
  using held = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;
  Start start_;
  frame* parent_ = nullptr;
  bool disturbed_ = false;  // as in call_awaiter
  eventually<held> result_;
};

// ---- From fork(…) and call(…) to a starter.

template <class F>
inline constexpr bool is_slot = std::is_pointer_v<F> && !std::is_function_v<std::remove_pointer_t<F>> && !std::is_void_v<std::remove_pointer_t<F>>;

template <class T, class S>
inline constexpr bool is_optional_slot = false;
template <class T>
inline constexpr bool is_optional_slot<T, std::optional<T>> = true;

template <class T, class S>
inline constexpr bool fits_slot = std::is_same_v<S, T> || std::is_same_v<S, eventually<T>> || is_optional_slot<T, S> ||
                                  (std::is_reference_v<T> && std::is_same_v<S, std::remove_reference_t<T>*>);

template <kind How, std::uintptr_t Bits, class F, class Pack>
struct starter_of;
template <kind How, std::uintptr_t Bits, class F, class... P>
struct starter_of<How, Bits, F, pack<P...>> {
  using type = starter<How, Bits, F, P...>;
};

/// What core/arguments.hpp asks of a child.
template <kind How, class F, class... A>
using checked_child = checked<How == forked ? way::forks : way::calls, F, A...>;

template <kind How, std::uintptr_t Bits, class F, class... A>
NOPAL_INLINE auto make_starter(void* slot, F&& f, A&&... a) {
  using arguments = checked_child<How, F&&, A&&...>::arguments;
  auto const kept = keep_callable(static_cast<F&&>(f));
  constexpr std::uintptr_t bits = Bits | (arguments::converted ? refers_to_starter : 0);
  using type = starter_of<How, bits, std::remove_const_t<decltype(kept)>, typename arguments::type>::type;
  return type{slot, kept, static_cast<A&&>(a)...};
}

template <kind How, class S, class F, class... A>
NOPAL_INLINE auto start_into(S* slot, F&& f, A&&... a) {
  using c = checked_child<How, F&&, A&&...>;
  if constexpr (!c::ok) {
    return explained<How == forked ? way::forks : way::calls, c::wrong>();
  } else {
    using T = c::result::value_type;
    static_assert(fits_slot<T, S>, "nopal: the slot must be a T* or a nopal::eventually<T>* for a function that returns nopal::task<T>. A "
                                   "std::optional<T>* will do too.");
    static_assert(!std::is_same_v<S, T> || is_word<T> || std::is_move_assignable_v<T>,
                  "nopal: this function's result cannot be assigned to the slot. Let the slot be a nopal::eventually<T>.");
    constexpr std::uintptr_t bits = is_optional_slot<T, S> ? (is_word<T> ? engages : engages | constructs)
                                    : std::is_same_v<S, eventually<T>> ? constructs
                                                                       : 0;
    return make_starter<How, bits>(slot, static_cast<F&&>(f), static_cast<A&&>(a)...);
  }
}

/// Where a result goes that nobody wants. Null where that costs nothing.
template <class T>
NOPAL_INLINE void* nowhere() noexcept {
  if constexpr (std::is_reference_v<T>) {
    return &current()->sink;
  } else if constexpr (std::is_void_v<T>) {
    return nullptr;
  } else if constexpr (is_word<T>) {
    return &current()->sink;
  } else {
    return nullptr;
  }
}

}  // namespace core

// ---- The public names. Two overloads each take a plain function, whose parameters need no deduction: by-value arguments then
// reach the child without a temporary in between, which GCC would keep in the parent's frame.

/// `co_await fork(&slot, f, args...)`: starts f(args...) as a child that may run in parallel with what follows; its result is in the
/// slot after `co_await join`. The slot is a T*, an eventually<T>*, or a std::optional<T>*, which is empty where the task fails. By-value
/// arguments are copied now; reference parameters must be bound to named objects that live until the join. Throws std::bad_alloc where
/// there is no memory for the child, here or at the join.
/// O(1): docs/fork-cost.md. Algorithm 3 of the libfork paper.
template <class S, class F, class... A>
  requires(core::is_slot<S*>)
NOPAL_INLINE auto fork(S* slot, F&& f, A&&... a) {
  return core::start_into<core::forked>(slot, static_cast<F&&>(f), static_cast<A&&>(a)...);
}
template <class T, class... P>
  requires(!(std::is_reference_v<P> || ...) && std::is_move_assignable_v<T>)
NOPAL_INLINE auto fork(T* slot, task<T> (*f)(P...), std::type_identity_t<P>... a) {
  return core::starter<core::forked, 0, task<T> (*)(P...), P...>{slot, f, static_cast<P&&>(a)...};
}

/// `co_await fork(f, args...)`: the same for task<void>, or where the result is not wanted.
template <class F, class... A>
  requires(!core::is_slot<std::remove_cvref_t<F>>)
NOPAL_INLINE auto fork(F&& f, A&&... a) {
  using c = core::checked_child<core::forked, F&&, A&&...>;
  if constexpr (!c::ok) {
    return core::explained<core::way::forks, c::wrong>();
  } else {
    return core::make_starter<core::forked, 0>(core::nowhere<typename c::result::value_type>(), static_cast<F&&>(f),
                                               static_cast<A&&>(a)...);
  }
}

/// `co_await call(&slot, f, args...)`: runs f(args...) as a child and goes on when it has ended. Rethrows its exception, once
/// children forked earlier have ended too. Any depth: frames and nesting never overflow the native stack.
template <class S, class F, class... A>
  requires(core::is_slot<S*>)
NOPAL_INLINE auto call(S* slot, F&& f, A&&... a) {
  return core::start_into<core::called>(slot, static_cast<F&&>(f), static_cast<A&&>(a)...);
}
template <class T, class... P>
  requires(!(std::is_reference_v<P> || ...) && std::is_move_assignable_v<T>)
NOPAL_INLINE auto call(T* slot, task<T> (*f)(P...), std::type_identity_t<P>... a) {
  return core::starter<core::called, 0, task<T> (*)(P...), P...>{slot, f, static_cast<P&&>(a)...};
}

/// `T v = co_await call(f, args...)`: the same, with the result as the value.
template <class F, class... A>
  requires(!core::is_slot<std::remove_cvref_t<F>>)
NOPAL_INLINE auto call(F&& f, A&&... a) {
  using c = core::checked_child<core::called, F&&, A&&...>;
  if constexpr (!c::ok) {
    return core::explained<core::way::calls, c::wrong>();
  } else if constexpr (std::is_void_v<typename c::result::value_type>) {
    return core::make_starter<core::called, 0>(nullptr, static_cast<F&&>(f), static_cast<A&&>(a)...);
  } else {
    using T = c::result::value_type;
    auto s = core::make_starter<core::called, std::is_reference_v<T> ? 0 : core::constructs>(nullptr, static_cast<F&&>(f),
                                                                                            static_cast<A&&>(a)...);
    return core::value_call<T, decltype(s)>{std::move(s)};
  }
}

}  // namespace nopal

#pragma once

// A child about to start, and the fork itself. The suspended parent is offered to thieves; then the child is *called*, as a nested native
// call (eager nested start). So an unstolen child returns like a function, and its native caller takes the parent back. Called by the
// worker that runs the parent; from the offer on a thief may run that parent. docs/fork-cost.md says what a fork costs. Next:
// deque/continuation.hpp, which offers the parent; slow_path.hpp, where it was stolen.

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/observe/profile_hooks.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/task/pack.hpp"
#include "nopal/core/task/slow_path.hpp"
#include "nopal/eventually.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// One child about to start: what fork and call return. F: what to dereference and invoke; P: the types of its stored arguments. By-value
/// arguments are stored here until the child copies them; references refer to the caller's objects.
template <kind How, std::uintptr_t Bits, class F, class... P>
class child_awaitable : public awaitable_tag {
 public:
  using arguments = pack<P...>;
  using result = std::invoke_result_t<decltype(*std::declval<F&>()), P...>;
  static constexpr bool has_result = !std::is_void_v<typename result::value_type>;
  static constexpr bool prepares_slot = slot_is_prepared<Bits, typename result::value_type>();

  template <class... A>
  NOPAL_INLINE explicit child_awaitable(void* slot, F f, A&&... a)
      : slot_{slot}, f_{f}, args_{core::make_pack<P...>(static_cast<A&&>(a)...)} {}

  // A fork: the parent must be suspended, so that a thief can resume it, before the child starts.
  NOPAL_INLINE bool await_ready() const noexcept { return false; }
  template <class Promise>
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<Promise> h) {
    return launch(static_cast<frame*>(h.address()));
  }
  NOPAL_INLINE bool launch(frame* p) {
    worker* const w = current();
    if (w->work.must_poll()) [[unlikely]]
      return fork_and_poll(p, slot_, f_, static_cast<passed&&>(args_));
    return fork<false>(p, w, slot_, f_, args_);
  }
  NOPAL_INLINE void await_resume() const noexcept {}

  NOPAL_INLINE F& function() noexcept { return f_; }

  // A call: no thief can take the parent, so the child runs at once, and the parent suspends only if it must.
  NOPAL_INLINE void start(frame* p) { start(p, slot_); }
  NOPAL_INLINE void start(frame* p, void* slot) {
    worker* const w = current();
    if (w->work.must_poll()) [[unlikely]] {
      if constexpr ((Bits & refers_to_awaitable) != 0) {
        begin<true>(p, w, slot, f_, args_);
      } else {
        call_and_poll(p, slot, f_, std::move(args_));
      }
    } else if constexpr ((Bits & refers_to_awaitable) != 0 || !std::is_trivially_copyable_v<arguments>) {
      begin<false>(p, w, slot, f_, args_);
    } else {
      arguments args = args_.hand_over();
      begin<false>(p, w, slot, f_, args);
    }
  }

 private:
  template <bool Polls>
  NOPAL_INLINE static bool fork(frame* const p, worker* before, void* const slot, F const f, arguments& stored) {
    // All reads of the parent's frame come before the offer: from then on a thief may run the parent.
    arguments args = stored.hand_over();
    p->state |= frame::open;
    make_offer(*before, continuation{p});
    if (begin<Polls>(p, before, slot, f, args)) return true;
    worker* const w = current();
    if (take_back(*w)) [[likely]]
      return false;
    return forked_returned(*w, p);
  }

  // Starts the child. True: its start is deferred, and everything unwinds to the loop at the stack's base. `Polls`: a thief has requested
  // work, or the native stack is low. start_threw keeps what the start throws for the parent.
  template <bool Polls>
  NOPAL_INLINE static bool begin(frame* p, worker* w, void* slot, F f, arguments& args) {
    try {
      if constexpr (Polls) {
        if (worker::poll()) return defer(p, slot, f, args);
        w = current();
      }
      w->parent_word = reinterpret_cast<std::uintptr_t>(p) + How + (Bits & parent_bits);  // frames are aligned: the low bits are free
      if constexpr (prepares_slot) {
        w->slot = prepared_slot<Bits, typename result::value_type>(slot);
      } else if constexpr (has_result) {
        w->slot = slot;
      }
      args.apply([&](auto&... a) { (void)std::invoke(*f, static_cast<P&&>(a)...); });
    } catch (...) {
      if constexpr (slot_may_be_empty<Bits>) empty_slot<typename result::value_type>(Bits, slot);
      start_threw(*current());
    }
    return false;
  }

  /// How the slow paths take the arguments: by value if that costs nothing, so that the child_awaitable itself needs no memory.
  using passed = std::conditional_t<std::is_trivially_copyable_v<arguments>, arguments, arguments&>;
  NOPAL_COLD static bool fork_and_poll(frame* p, void* slot, F f, passed args) {
    prepare_to_offer(*current());
    bool const suspends = fork<true>(p, current(), slot, f, args);
    polled_fork_ended();
    return suspends;
  }
  NOPAL_COLD static void call_and_poll(frame* p, void* slot, F f, arguments args) {
    begin<true>(p, current(), slot, f, args);
    polled_fork_ended();
  }
  /// The native stack is low: stores the arguments in the arena, until the loop at the stack's base starts the child. Nothing has started
  /// yet, and the parent may be in the deque. Always returns true. Throws std::bad_alloc, or what moving an argument throws.
  NOPAL_COLD static bool defer(frame* p, void* slot, F f, arguments& args) {
    // The objects of the child's references stay where they are, in the suspended parent's frame.
    using stored = std::conditional_t<(Bits & refers_to_awaitable) != 0, arguments&, arguments>;
    struct deferred : deferred_start {
      void* slot;
      F f;
      stored args;
      deferred(frame* p, void* s, F function, arguments& a)
          : deferred_start{&deferred::begin_deferred, p, How}, slot{s}, f{function}, args{static_cast<stored&&>(a)} {}
      static void begin_deferred(deferred_start* d) {
        auto* const self = static_cast<deferred*>(d);
        void* const to = self->slot;
        F const function = self->f;
        frame* const waiting = self->parent;
        try {
          stored args = static_cast<stored&&>(self->args);
          self->free();
          begin<false>(waiting, current(), to, function, args);
        } catch (...) {  // from moving an argument: begin handles its own exceptions
          self->free();
          if constexpr (slot_may_be_empty<Bits>) empty_slot<typename result::value_type>(Bits, to);
          start_threw(*current());
        }
      }
      void free() noexcept {
        this->~deferred();
        current()->arena.release(this);
        current()->arena.tidy();
      }
    };
    static_assert(alignof(deferred) <= arena::alignment, "nopal: arguments of a task may be aligned to at most 16 bytes");
    prepare_to_defer(*current());
    void* const at = allocate_in_body(*current(), arena::rounded(sizeof(deferred)), *p);
    deferred* d;
    try {
      d = ::new (at) deferred{p, slot, f, args};
    } catch (...) {
      current()->arena.release(at);
      current()->arena.tidy();
      throw;
    }
    defer_start(*current(), d);
    return true;
  }

  // A task<void> has no result: then no slot is stored or handed over.
  struct without_slot {
    NOPAL_INLINE constexpr without_slot(void*) noexcept {}
    NOPAL_INLINE constexpr operator void*() const noexcept { return nullptr; }
  };
  [[no_unique_address]] std::conditional_t<has_result, void*, without_slot> slot_;
  F f_;
  [[no_unique_address]] arguments args_;
};

// From fork(...) and call(...) to the child that they start: checks what was given, and makes the awaitable that starts it. Called by the
// task that forks or calls. Next: arguments.hpp, what may be given and how it is stored. Above: what starts the child.

/// What `co_await call(f, args...)` awaits if no slot was given: the result is stored here, in the parent's frame. Awaitable: the
/// child_awaitable that starts the child.
template <class T, class Awaitable>
class value_call : public awaitable_tag {
 public:
  static_assert(std::is_reference_v<T> || alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "nopal: compilers align a task's variables to 16 bytes at most, so this result cannot be awaited. Give a slot outside of "
                "tasks, co_await nopal::call(&slot, f, args...), or return std::unique_ptr<T>.");
  explicit value_call(Awaitable child) : child_{std::move(child)} {}
  value_call(value_call&& o, frame* parent) : child_{std::move(o.child_)}, parent_{parent} {}

  NOPAL_INLINE Awaitable& child() noexcept { return child_; }

  NOPAL_INLINE bool await_ready() {
    child_.start(parent_, std::addressof(result_));
    return current()->undisturbed();
  }
  template <class Promise>
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<Promise>) {
    disturbed_ = true;
    return called_returned(*current(), parent_);
  }
  NOPAL_INLINE T await_resume() {
    if (disturbed_ && current()->must_throw()) [[unlikely]]
      rethrow_into_task(*current());
    if constexpr (std::is_reference_v<T>) {
      return static_cast<T>(**result_);
    } else {
      return core::source_of<T>(std::move(*result_));  // a constant cannot be moved from: then it is copied
    }
  }

 private:
  using held = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;
  Awaitable child_;
  frame* parent_ = nullptr;
  bool disturbed_ = false;  // as in call_awaiter
  eventually<held> result_;
};

/// True if an F, the first argument of fork or call, is a slot. Every other one is a callable.
template <class F>
inline constexpr bool is_slot =
    std::is_pointer_v<F> && !std::is_function_v<std::remove_pointer_t<F>> && !std::is_void_v<std::remove_pointer_t<F>>;

template <class T, class S>
inline constexpr bool is_optional_slot = false;
template <class T>
inline constexpr bool is_optional_slot<T, std::optional<T>> = true;

/// True if the result of a task<T> may go to a slot of type S*.
template <class T, class S>
inline constexpr bool fits_slot = std::is_same_v<S, T> || std::is_same_v<S, eventually<T>> || is_optional_slot<T, S> ||
                                  (std::is_reference_v<T> && std::is_same_v<S, std::remove_reference_t<T>*>);

template <kind How, std::uintptr_t Bits, class F, class Pack>
struct child_awaitable_of;
template <kind How, std::uintptr_t Bits, class F, class... P>
struct child_awaitable_of<How, Bits, F, pack<P...>> {
  using type = child_awaitable<How, Bits, F, P...>;
};

/// What arguments.hpp says of a child with callable F and arguments A..., all given as references.
template <kind How, class F, class... A>
using checked_child = checked<How == forked ? way::forks : way::calls, F, A...>;

/// The awaitable for f(a...), which `checked` has accepted, with its result to `slot`.
template <kind How, std::uintptr_t Bits, class F, class... A>
// NOLINTNEXTLINE(misc-unused-parameters): all are used
NOPAL_INLINE auto make_child_awaitable(void* slot, F&& f, A&&... a) {
  using arguments = checked_child<How, F&&, A&&...>::arguments;
  auto const kept = store_callable(static_cast<F&&>(f));
  using stored = starter<std::remove_const_t<decltype(kept)>>;
  constexpr std::uintptr_t bits = Bits | (arguments::converted ? refers_to_awaitable : 0);
  using type = child_awaitable_of<How, bits, stored, typename arguments::type>::type;
  return type{slot, stored{kept}, static_cast<A&&>(a)...};
}

/// The awaitable for f(a...) with its result to `slot`; or one message, if something is wrong.
template <kind How, class S, class F, class... A>
NOPAL_INLINE auto make_awaitable_into(S* slot, F&& f, A&&... a) {
  using c = checked_child<How, F&&, A&&...>;
  if constexpr (!c::ok) {
    return explained<How == forked ? way::forks : way::calls, c::wrong>();
  } else if constexpr (std::is_void_v<typename c::result::value_type> && !std::is_void_v<S>) {
    return explained<How == forked ? way::forks : way::calls, mistake::no_result>();
  } else {
    using T = c::result::value_type;
    static_assert(fits_slot<T, S>,
                  "nopal: the slot must be a T* or a nopal::eventually<T>* for a function that returns nopal::task<T>. A "
                  "std::optional<T>* will do too.");
    static_assert(!std::is_same_v<S, T> || is_word<T> || std::is_move_assignable_v<T>,
                  "nopal: this function's result cannot be assigned to the slot. Let the slot be a nopal::eventually<T>.");
    constexpr std::uintptr_t bits = is_optional_slot<T, S>             ? (is_word<T> ? engages : engages | constructs)
                                    : std::is_same_v<S, eventually<T>> ? constructs
                                                                       : 0;
    return make_child_awaitable<How, bits>(slot, static_cast<F&&>(f), static_cast<A&&>(a)...);
  }
}

/// The slot for a result that is dropped: a place that any task may write, or null if testing for null costs nothing.
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

}  // namespace nopal::core

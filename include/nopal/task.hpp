#pragma once

// Coroutine tasks: fork, call, join. Called inside tasks only. Next: core/task/child.hpp, where the path of a fork begins;
// core/task/README.md describes all of it.

#include "nopal/core/compiler/config.hpp"

#include <type_traits>
#include <utility>

#include "nopal/core/task/child.hpp"
#include "nopal/core/task/promise.hpp"
#if NOPAL_PROFILES
#include "nopal/profile/task_profile.hpp"
#endif

namespace nopal::inline NOPAL_ABI {

/// What a coroutine function of nopal returns. It holds nothing: the result is stored in the slot that fork or call was given. A task is
/// started by nopal::fork, nopal::call or a pool, never by calling its function directly. A direct call ends the program with a message;
/// inside a task only in builds without NDEBUG: with it, the result goes to another task's slot.
template <class T = void>
class NOPAL_PROFILED NOPAL_ENDS_BEFORE_IT_GOES
    [[nodiscard("nopal: start a task with nopal::fork, nopal::call or a pool, not by calling its function")]] task {
 public:
  using value_type = T;
#if NOPAL_PROFILES
  using promise_type = core::profiled_promise<T>;
#else
  using promise_type = core::promise<T>;
#endif

 private:
  friend core::promise<T>;
  explicit task(std::nullptr_t) noexcept {}
};

inline task<void> core::promise<void>::get_return_object() noexcept { return task<void>{nullptr}; }

/// `co_await nopal::join`: the task continues when all children that it has forked since its last join have ended. Rethrows, of their
/// exceptions, the one that serial execution would have met first. O(1), and no atomic operation if nothing was stolen. Every task joins
/// before it ends: one that does not ends the program with a message.
inline constexpr core::join_tag join{};

// ---- fork and call. One overload of each is for plain functions, whose parameters need no deduction: by-value arguments then reach the
// child without a temporary in between, which GCC would put into the parent's frame.

/// `co_await fork(&slot, f, args...)`: starts f(args...) as a child that may run in parallel with what follows; its result is in the slot
/// after `co_await join`. The slot is a T*, an eventually<T>*, or a std::optional<T>*, which is empty if the child throws. By-value
/// arguments are copied now; reference parameters must be bound to named objects that live until the join. What the child throws is
/// rethrown by the join. If the child cannot start, because copying an argument throws or there is no memory for it (std::bad_alloc), that
/// is thrown here or at the join. O(1): docs/fork-cost.md. Algorithm 3 of the libfork paper.
template <class S, class F, class... A>
  requires(core::is_slot<S*>)
[[nodiscard("nopal: nothing starts without co_await. Write co_await nopal::fork(...)")]]
NOPAL_INLINE auto fork(S* slot, F&& f, A&&... a) {
  return core::make_awaitable_into<core::forked>(slot, static_cast<F&&>(f), static_cast<A&&>(a)...);
}
template <class T, class... P>
  requires(!(std::is_reference_v<P> || ...) && std::is_move_assignable_v<T>)
[[nodiscard("nopal: nothing starts without co_await. Write co_await nopal::fork(...)")]]
NOPAL_INLINE auto fork(T* slot, task<T> (*f)(P...), std::type_identity_t<P>... a) {
  using function = core::starter<task<T> (*)(P...)>;
  return core::child_awaitable<core::forked, 0, function, P...>{slot, function{f}, static_cast<P&&>(a)...};
}

/// `co_await fork(f, args...)`: forks a task<void>, or a task<T> whose result is dropped. Otherwise as fork with a slot.
template <class F, class... A>
  requires(!core::is_slot<std::remove_cvref_t<F>>)
[[nodiscard("nopal: nothing starts without co_await. Write co_await nopal::fork(...)")]]
NOPAL_INLINE auto fork(F&& f, A&&... a) {
  using c = core::checked_child<core::forked, F&&, A&&...>;
  if constexpr (!c::ok) {
    return core::explained<core::way::forks, c::wrong>();
  } else {
    return core::make_child_awaitable<core::forked, 0>(core::nowhere<typename c::result::value_type>(), static_cast<F&&>(f),
                                                       static_cast<A&&>(a)...);
  }
}

/// `co_await call(&slot, f, args...)`: runs f(args...) as a child; the caller continues when it has ended. Slots as for fork; references
/// may also be bound to temporaries. Rethrows what the child throws, once children forked earlier have ended too: of all their exceptions
/// the one that serial execution would have met first. Throws std::bad_alloc if there is no memory for the child. O(1), at any depth of
/// calls and forks: neither overflows the native stack.
template <class S, class F, class... A>
  requires(core::is_slot<S*>)
[[nodiscard("nopal: nothing starts without co_await. Write co_await nopal::call(...)")]]
NOPAL_INLINE auto call(S* slot, F&& f, A&&... a) {
  return core::make_awaitable_into<core::called>(slot, static_cast<F&&>(f), static_cast<A&&>(a)...);
}
template <class T, class... P>
  requires(!(std::is_reference_v<P> || ...) && std::is_move_assignable_v<T>)
[[nodiscard("nopal: nothing starts without co_await. Write co_await nopal::call(...)")]]
NOPAL_INLINE auto call(T* slot, task<T> (*f)(P...), std::type_identity_t<P>... a) {
  using function = core::starter<task<T> (*)(P...)>;
  return core::child_awaitable<core::called, 0, function, P...>{slot, function{f}, static_cast<P&&>(a)...};
}

/// `T v = co_await call(f, args...)`: as call with a slot, but the result is the value of the expression.
template <class F, class... A>
  requires(!core::is_slot<std::remove_cvref_t<F>>)
[[nodiscard("nopal: nothing starts without co_await. Write co_await nopal::call(...)")]]
NOPAL_INLINE auto call(F&& f, A&&... a) {
  using c = core::checked_child<core::called, F&&, A&&...>;
  if constexpr (!c::ok) {
    return core::explained<core::way::calls, c::wrong>();
  } else if constexpr (std::is_void_v<typename c::result::value_type>) {
    return core::make_child_awaitable<core::called, 0>(nullptr, static_cast<F&&>(f), static_cast<A&&>(a)...);
  } else {
    using T = c::result::value_type;
    constexpr std::uintptr_t bits = std::is_reference_v<T> || core::is_word<T> ? 0 : core::constructs;  // nobody asks for has_value()
    auto s = core::make_child_awaitable<core::called, bits>(nullptr, static_cast<F&&>(f), static_cast<A&&>(a)...);
    return core::value_call<T, decltype(s)>{std::move(s)};
  }
}

}  // namespace nopal

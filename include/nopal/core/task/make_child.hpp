#pragma once

// From fork(...) and call(...) to the child that they start: checks what was given, and makes the awaitable that starts it. Called by the
// task that forks or calls. Next: arguments.hpp, what may be given and how it is stored; child.hpp, which starts the child.

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/observe/profile_hooks.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/task/child.hpp"
#include "nopal/eventually.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What `co_await call(f, args...)` awaits if no slot was given: the result is stored here, in the parent's frame. Awaitable: the
/// child_awaitable that starts the child.
template <class T, class Awaitable>
class value_call : public awaitable_tag {
 public:
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
      return std::move(*result_);
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

#pragma once

// What may be given to whom, and how it is kept: one rule for fork, call, submit, detach, run and sync_wait. Next: ../task.hpp and
// ../pool.hpp, which keep it so.

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/core/config.hpp"
#include "nopal/core/pack.hpp"
#include "nopal/core/signature.hpp"

namespace nopal {

template <class T>
class task;

namespace core {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// Who calls the callable, and what is still there then.
enum class way {
  forks,    ///< a child, while its parent goes on: only what has a name is still there
  calls,    ///< a child, while its parent waits in co_await call(…): temporaries of that expression are there until the end
  submits,  ///< a job, when a worker comes to it: it keeps the callable, and what is taken by value
  waits,    ///< a job, while its caller waits in run or sync_wait: temporaries of that expression are there until the end
};

/// Comes of a mistake whose message is out, so that it stays the only one: may be awaited, and converted to anything.
struct refused {
  template <class T>
  operator T() const noexcept;  // NOLINT(google-explicit-constructor)
  template <class Frame>
  refused in(Frame&) const noexcept;
  bool await_ready() const noexcept;
  void await_suspend(std::coroutine_handle<>) const noexcept;
  refused await_resume() const noexcept;
};

template <class F, class... A>
struct returned_by {
  using type = refused;
};
template <class F, class... A>
  requires std::is_invocable_v<F, A...>
struct returned_by<F, A...> {
  using type = std::remove_cv_t<std::invoke_result_t<F, A...>>;
};
template <class F, class... A>
inline constexpr bool returns_task = is_task<typename returned_by<F, A...>::type>;

/// How a kept callable is called, which happens once: as the temporary that it is by then, or by its name where it takes only that.
template <class F, class... A>
using called_once = std::conditional_t<std::is_invocable_v<F&&, A...>, F&&, F&>;

/// How one argument A is kept for the parameter P. Where the caller waits, references may also be bound to temporaries, and what must
/// be converted for them first is kept converted.
template <way How, class P, class A>
struct keeps {
  static constexpr bool leaves = How == way::forks || How == way::submits;
  static constexpr bool dies = leaves && std::is_reference_v<P> && !binds_for_long<P, A>;
  static constexpr bool viewed = leaves && views_a_temporary<std::remove_cvref_t<P>, A>;
  static constexpr bool ok = !dies && !viewed;
  static_assert(How != way::forks || !dies,
                "nopal::fork: this parameter is a reference and its argument is a temporary, which dies before the child does. "
                "Give the argument a name, or let the function take it by value.");
  static_assert(How != way::forks || !viewed,
                "nopal::fork: this parameter is a view of an argument that is a temporary, which dies before the child does. "
                "Give the argument a name, or let the function take it by value.");
  static_assert(How != way::submits || !dies,
                "nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the job "
                "does. Give the argument a name that outlives the job, or let the function take it by value.");
  static_assert(How != way::submits || !viewed,
                "nopal::pool::submit and detach: this parameter is a view of an argument that is a temporary, which dies before the job "
                "does. Give the argument a name that outlives the job, or let the function take it by value.");

  static constexpr bool direct =
      std::is_reference_v<P> && (std::is_convertible_v<std::remove_reference_t<A>*, std::remove_reference_t<P>*> || binds_for_long<P, A>);
  static constexpr bool converted = std::is_reference_v<P> && !direct;
  using type = std::conditional_t<How == way::waits && !converted, A, std::conditional_t<direct, P, std::remove_cvref_t<P>>>;
};
/// The object of a member, through a smart pointer. A job keeps a copy of it. A child has it no longer than its caller does.
template <way How, class Object, class A>
struct keeps<How, object_through<Object>, A> {
  static constexpr bool converted = false;
  static constexpr bool ok = How != way::forks || std::is_lvalue_reference_v<A>;
  static_assert(ok, "nopal::fork: this object is given through a temporary, which dies before the child does. Give it a name.");
  using type = std::conditional_t<How == way::submits, std::decay_t<A>, A>;
};

/// How all of them are kept. A...: as they were given, references.
template <way How, class List, class... A>
struct kept_arguments;
template <way How, class... P, class... A>
  requires(sizeof...(P) == sizeof...(A))
struct kept_arguments<How, parameter_list<P...>, A...> {
  static constexpr bool ok = (keeps<How, P, A>::ok && ...);
  static constexpr bool converted = (keeps<How, P, A>::converted || ...);
  using type = pack<typename keeps<How, P, A>::type...>;
};
// Parameters that nobody sees, of an ordinary function. A job has copies.
template <way How, class... A>
struct kept_arguments<How, unknown_parameters, A...> {
  static constexpr bool ok = true;
  static constexpr bool converted = false;
  using type = pack<std::conditional_t<How == way::waits, A, std::decay_t<A>>...>;
};

/// Parameters with default arguments end with the callable's own call: a coroutine that keeps references to them does not.
template <std::size_t Given, class List>
inline constexpr bool refers_to_defaults = false;
template <std::size_t Given, class... P>
  requires(sizeof...(P) > Given)
inline constexpr bool refers_to_defaults<Given, parameter_list<P...>> = []<std::size_t... I>(std::index_sequence<I...>) {
  return ((I >= Given && std::is_reference_v<P> && (std::is_rvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>)) || ...);
}(std::index_sequence_for<P...>{});

/// A callable that is still there when a child is: functions, and closures that have a name. A temporary closure without captures is as
/// good as any other object of its type, and a std::reference_wrapper as what it refers to.
template <class F>
inline constexpr bool lasts = std::is_lvalue_reference_v<F> || std::is_pointer_v<std::remove_cvref_t<F>> ||
                              std::is_member_pointer_v<std::remove_cvref_t<F>> || is_reference_wrapper<std::remove_cvref_t<F>> ||
                              (std::is_empty_v<std::remove_cvref_t<F>> && std::is_default_constructible_v<std::remove_cvref_t<F>>);

/// The callable as it will be called. F: as it was given, a reference.
template <way How, class F, class... A>
struct callee {
  using type = F;
};
template <class F, class... A>
struct callee<way::submits, F, A...> {
  using type = called_once<std::decay_t<F>, A...>;
};

/// What is asked of a callable F and of arguments A..., all references as they were given, before anything is made of them. Where a message
/// was given, `ok` is false, and nothing else may be asked of it, so that the message is the only one.
template <way How, class F, class... A>
struct checked {
 private:
  static constexpr bool of_pool = How == way::submits || How == way::waits;
  using called_as = callee<How, F, A...>::type;
  static constexpr bool fits = std::is_invocable_v<called_as, A...>;
  static_assert(fits, "nopal: the function cannot be called with these arguments.");

 public:
  using result = returned_by<called_as, A...>::type;

 private:
  static constexpr bool coroutine = is_task<result>;
  static constexpr bool right_kind = !fits || of_pool || coroutine;
  static_assert(right_kind, "nopal: fork and call start coroutine functions, which return nopal::task<T>. Call an ordinary "
                            "function as it is, or use nopal::scope.");
  static constexpr bool stays = How != way::forks || lasts<F>;
  static_assert(!fits || !right_kind || stays,
                "nopal::fork: this closure is a temporary, which dies before the child does. Give it a name that outlives the join: "
                "auto f = [...](...) -> nopal::task<> {...}; co_await nopal::fork(f, args...).");
  static constexpr bool kept = How != way::submits || std::is_constructible_v<std::decay_t<F>, F>;
  static_assert(!fits || kept, "nopal::pool::submit and detach: the job keeps its callable by value, and this one cannot be copied. Give it by "
                               "std::move(f).");
  static constexpr bool started = fits && right_kind && stays && kept;

  // Where the caller waits for an ordinary function there is nothing to see to, and its signature need not be seen.
  static consteval auto seen() {
    if constexpr (!started || (How == way::waits && !coroutine)) {
      return std::type_identity<unknown_parameters>{};
    } else {
      return std::type_identity<typename parameters_of<std::remove_cvref_t<F>, A...>::type>{};
    }
  }
  using all_parameters = decltype(seen())::type;
  static constexpr bool visible = !started || !coroutine || all_parameters::known;
  static_assert(visible, "nopal: the parameters of this callable cannot be seen, because it is overloaded or a template. Name one "
                         "instantiation, or wrap it in a lambda with plain parameter types.");
  static constexpr bool whole = !started || !coroutine || !visible || !refers_to_defaults<sizeof...(A), all_parameters>;
  static_assert(whole, "nopal: a coroutine's reference parameter has a default argument, which dies before the coroutine does. Give the "
                       "argument, or let the function take it by value.");
  using parameters = first_parameters<sizeof...(A), all_parameters>::type;
  static consteval bool check_arguments() {
    if constexpr (!started || !visible || !whole) {
      return false;
    } else {
      return kept_arguments<How, parameters, A...>::ok;
    }
  }
  static constexpr bool arguments_ok = check_arguments();

 public:
  using arguments = kept_arguments<How, parameters, A...>;

 private:
  // Copies are given as what they are, temporaries.
  static consteval bool check_copies() {
    if constexpr (How != way::submits || !arguments_ok || all_parameters::known) {
      return true;
    } else {
      return (std::is_constructible_v<std::decay_t<A>, A> && ...) && std::is_invocable_v<called_once<std::decay_t<F>, std::decay_t<A>...>, std::decay_t<A>...>;
    }
  }
  static constexpr bool takes_copies = check_copies();
  static_assert(takes_copies, "nopal::pool::submit and detach: the parameters of this callable cannot be seen, because it is overloaded or a "
                              "template, so the job copies its arguments, and cannot call it with the copies. Give std::ref(x) for what is "
                              "not to be copied, or wrap it in a lambda with plain parameter types.");

 public:
  static constexpr bool ok = arguments_ok && takes_copies;
};

/// A temporary callable, called as one.
template <class F>
struct kept_temporary {
  F* f;
  NOPAL_INLINE F&& operator*() const noexcept { return static_cast<F&&>(*f); }
};
/// A member function's pointer, which itself may be a temporary.
template <class M>
struct kept_member {
  M m;
  NOPAL_INLINE M operator*() const noexcept { return m; }
};
template <class F>
struct callable_holder {
  static inline F instance{};
};

/// A callable as a child keeps it: by something to dereference.
template <class F>
NOPAL_INLINE auto keep_callable(F&& f) noexcept {
  using plain = std::remove_reference_t<F>;
  if constexpr (std::is_function_v<plain>) {
    return &f;
  } else if constexpr (std::is_pointer_v<plain> && std::is_function_v<std::remove_pointer_t<plain>>) {
    return std::remove_cv_t<plain>{f};
  } else if constexpr (std::is_member_pointer_v<plain>) {
    return kept_member<std::remove_cv_t<plain>>{f};
  } else if constexpr (is_reference_wrapper<std::remove_cv_t<plain>>) {
    return std::addressof(f.get());
  } else if constexpr (std::is_lvalue_reference_v<F>) {
    return std::addressof(f);
  } else if constexpr (std::is_empty_v<plain> && std::is_default_constructible_v<plain>) {
    return kept_temporary<plain>{std::addressof(callable_holder<plain>::instance)};
  } else {
    return kept_temporary<plain>{std::addressof(f)};
  }
}

}  // namespace core
}  // namespace nopal

#pragma once

// What may be given to whom, and how it is kept: one rule for fork, call, submit, detach, run and sync_wait. Next: ../task.hpp and
// ../pool.hpp, which keep it so.

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/task/pack.hpp"
#include "nopal/core/task/signature.hpp"

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
  template <class T>
  friend bool operator==(refused, T const&) noexcept;
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

/// What was given that cannot be taken.
enum class mistake {
  none,
  arguments,          ///< the callable does not take them
  ordinary_function,  ///< where a coroutine function belongs
  temporary_closure,
  uncopyable_closure,
  hidden_parameters,
  default_argument,    ///< which a coroutine would refer to
  reference,           ///< to a temporary
  view,                ///< of a temporary
  object,              ///< of a member, through a temporary
  uncopyable_argument  ///< for parameters that nobody sees
};

/// How one argument A is kept for the parameter P. Where the caller waits, references may also be bound to temporaries, and what must
/// be converted for them first is kept converted.
template <way How, class P, class A>
struct keeps {
  static constexpr bool leaves = How == way::forks || How == way::submits;
  static constexpr mistake wrong = leaves && std::is_reference_v<P> && !binds_for_long<P, A>              ? mistake::reference
                                   : leaves && views_a_temporary<std::remove_cvref_t<P>, A> ? mistake::view
                                                                                            : mistake::none;
  static constexpr bool direct =
      std::is_reference_v<P> && (std::is_convertible_v<std::remove_reference_t<A>*, std::remove_reference_t<P>*> || binds_for_long<P, A>);
  static constexpr bool converted = std::is_reference_v<P> && !direct;
  using type = std::conditional_t<How == way::waits && !converted, A, std::conditional_t<direct, P, std::remove_cvref_t<P>>>;
};
/// The object of a member, through a smart pointer. A job keeps a copy of it. A child has it no longer than its caller does.
template <way How, class Object, class A>
struct keeps<How, object_through<Object>, A> {
  static constexpr bool converted = false;
  static constexpr mistake wrong = How == way::forks && !std::is_lvalue_reference_v<A> ? mistake::object : mistake::none;
  using type = std::conditional_t<How == way::submits, std::decay_t<A>, A>;
};

/// How all of them are kept. A...: as they were given, references.
template <way How, class List, class... A>
struct kept_arguments;
template <way How, class... P, class... A>
  requires(sizeof...(P) == sizeof...(A))
struct kept_arguments<How, parameter_list<P...>, A...> {
  static constexpr mistake wrong = std::max({mistake::none, keeps<How, P, A>::wrong...});
  static constexpr bool converted = (keeps<How, P, A>::converted || ...);
  using type = pack<typename keeps<How, P, A>::type...>;
};
// Parameters that nobody sees, of an ordinary function. A job has copies.
template <way How, class... A>
struct kept_arguments<How, unknown_parameters, A...> {
  static constexpr mistake wrong = mistake::none;
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

/// What is asked of a callable F and of arguments A..., all references as they were given, before anything is made of them.
template <way How, class F, class... A>
struct checked {
 private:
  static constexpr bool of_pool = How == way::submits || How == way::waits;
  using called_as = callee<How, F, A...>::type;

 public:
  using result = returned_by<called_as, A...>::type;

 private:
  static constexpr bool coroutine = is_task<result>;
  static constexpr mistake wrong_callable = !std::is_invocable_v<called_as, A...>                               ? mistake::arguments
                                            : !of_pool && !coroutine                                            ? mistake::ordinary_function
                                            : How == way::forks && !lasts<F>                                    ? mistake::temporary_closure
                                            : How == way::submits && !std::is_constructible_v<std::decay_t<F>, F> ? mistake::uncopyable_closure
                                                                                                                : mistake::none;
  static consteval auto seen() {
    if constexpr (wrong_callable != mistake::none || (How == way::waits && !coroutine)) {
      return std::type_identity<unknown_parameters>{};  // an ordinary function that is waited for: there is nothing to see to
    } else {
      return std::type_identity<typename parameters_of<std::remove_cvref_t<F>, A...>::type>{};
    }
  }
  using parameters = decltype(seen())::type;

 public:
  using arguments = kept_arguments<How, typename first_parameters<sizeof...(A), parameters>::type, A...>;

 private:
  static consteval mistake find() {
    if constexpr (wrong_callable != mistake::none) {
      return wrong_callable;
    } else if constexpr (coroutine && !parameters::known) {
      return mistake::hidden_parameters;
    } else if constexpr (coroutine && refers_to_defaults<sizeof...(A), parameters>) {
      return mistake::default_argument;
    } else if constexpr (How == way::submits && !parameters::known) {
      constexpr bool copied = (std::is_constructible_v<std::decay_t<A>, A> && ...);
      return copied && std::is_invocable_v<called_once<std::decay_t<F>, std::decay_t<A>...>, std::decay_t<A>...> ? mistake::none
                                                                                                               : mistake::uncopyable_argument;
    } else {
      return arguments::wrong;
    }
  }

 public:
  static constexpr mistake wrong = find();
  static constexpr bool ok = wrong == mistake::none;
};

/// Says what was wrong, once, and what to write instead. `auto`, so that it is said at once and not at the end of the file.
template <way How, mistake Wrong>
auto explained() {
  static_assert(Wrong != mistake::arguments, "nopal: the function cannot be called with these arguments.");
  static_assert(Wrong != mistake::ordinary_function,
                "nopal: fork and call start coroutine functions, which return nopal::task<T>. Call an ordinary function as it is, or use "
                "nopal::scope.");
  static_assert(Wrong != mistake::temporary_closure,
                "nopal::fork: this closure is a temporary, which dies before the child does. Give it a name that outlives the join: "
                "auto f = [...](...) -> nopal::task<> {...}; co_await nopal::fork(f, args...).");
  static_assert(Wrong != mistake::uncopyable_closure,
                "nopal::pool::submit and detach: the job keeps its closure by value, and this one cannot be copied. Write std::move(f).");
  static_assert(Wrong != mistake::hidden_parameters,
                "nopal: the parameters of this callable cannot be seen, because it is overloaded or a template. Name one instantiation, "
                "or wrap it in a lambda with plain parameter types.");
  static_assert(Wrong != mistake::default_argument,
                "nopal: a reference parameter of this coroutine has a default argument, which may die before the coroutine does. Give "
                "the argument, or let the function take it by value.");
  static_assert(How != way::forks || Wrong != mistake::reference,
                "nopal::fork: this parameter is a reference and its argument is a temporary, which dies before the child does. "
                "Give the argument a name, or let the function take it by value.");
  static_assert(How != way::forks || Wrong != mistake::view,
                "nopal::fork: this parameter is a view of an argument that is a temporary, which dies before the child does. "
                "Give the argument a name, or let the function take it by value.");
  static_assert(Wrong != mistake::object,
                "nopal::fork: the object is given through a pointer that is a temporary, which dies before the child does. Give the "
                "pointer a name.");
  static_assert(How != way::submits || Wrong != mistake::reference,
                "nopal::pool::submit and detach: this parameter is a reference and its argument is a temporary, which dies before the "
                "job does. Give the argument a name that outlives the job, or let the function take it by value.");
  static_assert(How != way::submits || Wrong != mistake::view,
                "nopal::pool::submit and detach: this parameter is a view of an argument that is a temporary, which dies before the "
                "job does. Give the argument a name that outlives the job, or let the function take it by value.");
  static_assert(Wrong != mistake::uncopyable_argument,
                "nopal::pool::submit and detach: the parameters of this callable cannot be seen, because it is overloaded or a template, "
                "so the job copies its arguments, and it does not take the copies. Write std::ref(x) for what is not to be copied, or "
                "wrap it in a lambda with plain parameter types.");
  return refused{};
}

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
NOPAL_INLINE auto store_callable(F&& f) noexcept {
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

#pragma once

// What may be given to a child or a job, and how its callable and each argument are stored: one rule for fork, call, submit, detach, run
// and sync_wait. All at compile time, but for store_callable, which the caller of fork or call runs. Next: child.hpp and
// scheduler/typed_job.hpp, which store them so.

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

namespace nopal::inline NOPAL_ABI {

template <class T>
class NOPAL_PROFILED task;

namespace core {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// How the callable is called, and which objects still live then.
enum class way {
  forks,    ///< a child, while its parent continues: only what has a name still lives
  calls,    ///< a child, while its parent waits in co_await call(…): temporaries of that expression live until the child ends
  submits,  ///< a job, when a worker starts it: the callable and by-value arguments are stored in the job
  waits,    ///< a job, while its caller waits in run or sync_wait: temporaries of that expression live until the job ends
};

/// The result of a call that was refused with a message. It may be awaited, and converted to anything, so that no second message follows.
struct refused {
  template <class T>
  operator T() const noexcept;  // NOLINT(google-explicit-constructor)
  template <class T>
  friend bool operator==(refused, T const&) noexcept;
  bool await_ready() const noexcept;
  void await_suspend(std::coroutine_handle<>) const noexcept;
  refused await_resume() const noexcept;
};

/// What F(A...) returns; `refused` if F cannot be called so.
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

/// How a stored callable is called, once: as a temporary, or as a named object if it can be called only so.
template <class F, class... A>
using called_once = std::conditional_t<std::is_invocable_v<F&&, A...>, F&&, F&>;

/// What is wrong with a callable and its arguments. `explained` has a message for each but `none`.
enum class mistake {
  none,
  arguments,          ///< the callable cannot be called with them
  called_already,     ///< f(a) in place of f, a
  slot_by_value,      ///< a slot in place of its address
  no_result,          ///< a slot for a task<>
  ordinary_function,  ///< one where a coroutine function belongs
  temporary_closure,
  uncopyable_closure,
  hidden_parameters,
  default_argument,    ///< one that a coroutine would refer to
  reference,           ///< one to a temporary
  view,                ///< one of a temporary
  object,              ///< that of a member, given through a temporary
  uncopyable_argument  ///< for unknown parameters
};

/// How one argument A is stored for the parameter P: `type`. If the caller waits, references may also be bound to temporaries; an argument
/// that must be converted for a reference is stored converted.
template <way How, class P, class A>
struct stored_argument {
  static constexpr bool outlives_expression = How == way::forks || How == way::submits;  // of the child or job
  static constexpr mistake wrong = outlives_expression && std::is_reference_v<P> && !binds_for_long<P, A> ? mistake::reference
                                   : outlives_expression && views_a_temporary<std::remove_cvref_t<P>, A>  ? mistake::view
                                                                                                          : mistake::none;
  static constexpr bool direct =
      std::is_reference_v<P> && (std::is_convertible_v<std::remove_reference_t<A>*, std::remove_reference_t<P>*> || binds_for_long<P, A>);
  static constexpr bool converted = std::is_reference_v<P> && !direct;
  using type = std::conditional_t<How == way::waits && !converted, A, std::conditional_t<direct, P, std::remove_cvref_t<P>>>;
};
/// How a smart pointer to a member's object is stored: a job gets a copy of it, a child a reference to the caller's.
template <way How, class Object, class A>
struct stored_argument<How, object_through<Object>, A> {
  static constexpr bool converted = false;
  static constexpr mistake wrong = How == way::forks && !std::is_lvalue_reference_v<A> ? mistake::object : mistake::none;
  using type = std::conditional_t<How == way::submits, std::decay_t<A>, A>;
};

/// How all arguments are stored: `type`, a pack. A...: references to the arguments as they were given.
template <way How, class List, class... A>
struct stored_arguments;
template <way How, class... P, class... A>
  requires(sizeof...(P) == sizeof...(A))
struct stored_arguments<How, parameter_list<P...>, A...> {
  static constexpr mistake wrong = std::max({mistake::none, stored_argument<How, P, A>::wrong...});
  static constexpr bool converted = (stored_argument<How, P, A>::converted || ...);
  using type = pack<typename stored_argument<How, P, A>::type...>;
};
// For unknown parameters of an ordinary function: a job stores copies.
template <way How, class... A>
struct stored_arguments<How, unknown_parameters, A...> {
  static constexpr mistake wrong = mistake::none;
  static constexpr bool converted = false;
  using type = pack<std::conditional_t<How == way::waits, A, std::decay_t<A>>...>;
};

/// True if a callable that is given its first Given arguments has a reference parameter with a default argument. That argument's life ends
/// with the callable's own call; a coroutine that refers to it lives longer.
template <std::size_t Given, class List>
inline constexpr bool refers_to_defaults = false;
template <std::size_t Given, class... P>
  requires(sizeof...(P) > Given)
inline constexpr bool refers_to_defaults<Given, parameter_list<P...>> = []<std::size_t... I>(std::index_sequence<I...>) {
  return ((I >= Given && std::is_reference_v<P> && (std::is_rvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>)) || ...);
}(std::index_sequence_for<P...>{});

/// True if a callable F, as it was given, lives as long as a forked child. Functions do, and closures that have a name. A temporary closure
/// without captures is as good as any other object of its type, and a std::reference_wrapper as what it refers to.
template <class F>
inline constexpr bool outlives_child = std::is_lvalue_reference_v<F> || std::is_pointer_v<std::remove_cvref_t<F>> ||
                                       std::is_member_pointer_v<std::remove_cvref_t<F>> || is_reference_wrapper<std::remove_cvref_t<F>> ||
                                       (std::is_empty_v<std::remove_cvref_t<F>> && std::is_default_constructible_v<std::remove_cvref_t<F>>);

/// True if F is a slot given by value, before a coroutine function and its arguments.
template <class F, class... A>
inline constexpr bool is_slot_by_value = false;
template <class F, class Function, class... A>
inline constexpr bool is_slot_by_value<F, Function, A...> = returns_task<Function, A...>;

/// The callable as it will be called. F: as it was given, a reference.
template <way How, class F, class... A>
struct callee {
  using type = F;
};
template <class F, class... A>
struct callee<way::submits, F, A...> {
  using type = called_once<std::decay_t<F>, A...>;
};

/// Checks a callable F and arguments A..., all given as references. `wrong`: the mistake; `arguments`: how the arguments are stored;
/// `result`: what the callable returns.
template <way How, class F, class... A>
struct checked {
 private:
  static constexpr bool of_pool = How == way::submits || How == way::waits;
  using called_as = callee<How, F, A...>::type;

 public:
  using result = returned_by<called_as, A...>::type;

 private:
  static constexpr bool coroutine = is_task<result>;
  static consteval mistake find_wrong_callable() {
    if constexpr (is_task<std::remove_cvref_t<F>>) {
      return mistake::called_already;
    } else if constexpr (!std::is_invocable_v<called_as, A...>) {
      if constexpr (of_pool) {
        return mistake::arguments;
      } else {
        return is_slot_by_value<F, A...> ? mistake::slot_by_value : mistake::arguments;
      }
    } else {
      return !of_pool && !coroutine                                                ? mistake::ordinary_function
             : How == way::forks && !outlives_child<F>                             ? mistake::temporary_closure
             : How == way::submits && !std::is_constructible_v<std::decay_t<F>, F> ? mistake::uncopyable_closure
                                                                                   : mistake::none;
    }
  }
  static constexpr mistake wrong_callable = find_wrong_callable();
  static consteval auto find_parameters() {
    if constexpr (wrong_callable != mistake::none || (How == way::waits && !coroutine)) {
      return std::type_identity<unknown_parameters>{};  // an ordinary function that is waited for: every argument may be passed on as it is
    } else {
      return std::type_identity<typename parameters_of<std::remove_cvref_t<F>, A...>::type>{};
    }
  }
  using parameters = decltype(find_parameters())::type;

 public:
  using arguments = stored_arguments<How, typename first_parameters<sizeof...(A), parameters>::type, A...>;

 private:
  static consteval mistake find_mistake() {
    if constexpr (wrong_callable != mistake::none) {
      return wrong_callable;
    } else if constexpr (coroutine && !parameters::known) {
      return mistake::hidden_parameters;
    } else if constexpr (coroutine && refers_to_defaults<sizeof...(A), parameters>) {
      return mistake::default_argument;
    } else if constexpr (How == way::submits && !parameters::known) {
      constexpr bool copied = (std::is_constructible_v<std::decay_t<A>, A> && ...);
      constexpr bool called = std::is_invocable_v<called_once<std::decay_t<F>, std::decay_t<A>...>, std::decay_t<A>...>;
      return copied && called ? mistake::none : mistake::uncopyable_argument;
    } else {
      return arguments::wrong;
    }
  }

 public:
  static constexpr mistake wrong = find_mistake();
  static constexpr bool ok = wrong == mistake::none;
};

/// Refuses what was given, with one message that says what is wrong and what to write instead. Returns `auto`, so that the compiler gives
/// the message at the call and not at the end of the file.
template <way How, mistake Wrong>
auto explained() {
  static_assert(Wrong != mistake::arguments, "nopal: the function cannot be called with these arguments.");
  static_assert(Wrong != mistake::called_already,
                "nopal: here the function is called, and its task is given. Give the function, and then its arguments: fork(&x, f, a) for "
                "fork(&x, f(a)), and run(f, a) for run(f(a)).");
  static_assert(Wrong != mistake::slot_by_value, "nopal: a slot is given by its address. Write fork(&x, f, a) for fork(x, f, a).");
  static_assert(Wrong != mistake::no_result,
                "nopal: this function returns nopal::task<>, so there is no result for a slot. Write fork(f, a) for fork(&x, f, a).");
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

/// A callable that was given as a temporary, and is called as one.
template <class F>
struct stored_temporary {
  F* f;
  NOPAL_INLINE F&& operator*() const noexcept { return static_cast<F&&>(*f); }
};
/// A pointer to a member. The pointer itself may be a temporary.
template <class M>
struct stored_member {
  M m;
  NOPAL_INLINE M operator*() const noexcept { return m; }
};
template <class F>
struct callable_holder {
  static inline F instance{};
};

/// The callable of a child as it is stored: something to dereference, no larger than a pointer to a member.
template <class F>
NOPAL_INLINE auto store_callable(F&& f) noexcept {
  using plain = std::remove_reference_t<F>;
  if constexpr (std::is_function_v<plain>) {
    return &f;
  } else if constexpr (std::is_pointer_v<plain> && std::is_function_v<std::remove_pointer_t<plain>>) {
    return std::remove_cv_t<plain>{f};
  } else if constexpr (std::is_member_pointer_v<plain>) {
    return stored_member<std::remove_cv_t<plain>>{f};
  } else if constexpr (is_reference_wrapper<std::remove_cv_t<plain>>) {
    return std::addressof(f.get());
  } else if constexpr (std::is_lvalue_reference_v<F>) {
    return std::addressof(f);
  } else if constexpr (std::is_empty_v<plain> && std::is_default_constructible_v<plain>) {
    return stored_temporary<plain>{std::addressof(callable_holder<plain>::instance)};
  } else {
    return stored_temporary<plain>{std::addressof(f)};
  }
}

}  // namespace core
}  // namespace nopal

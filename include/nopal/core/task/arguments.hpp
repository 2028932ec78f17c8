#pragma once

// The parameters of a callable, so that a child's or a job's arguments are stored as its signature says: a value is copied before the
// caller continues, a reference is bound to the caller's own object, and what would dangle is refused. All at compile time. Below: the
// rules that are made of it.

#include <algorithm>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/task/pack.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The parameters of a callable whose signature is known.
template <class... P>
struct parameter_list {
  static constexpr bool known = true;
  static constexpr std::size_t count = sizeof...(P);
  template <std::size_t I>
  using at = std::tuple_element_t<I, std::tuple<std::type_identity<P>...>>::type;
};

/// The parameters of a callable that is overloaded, a template or C-variadic.
struct unknown_parameters {
  static constexpr bool known = false;
};

/// The parameters of F by its type alone, for any arguments.
template <class F>
struct signature_of {
  using type = unknown_parameters;
};

// Functions. Those of a C-variadic one are unknown.
template <class R, class... P>
struct signature_of<R(P...)> {
  using type = parameter_list<P...>;
};
template <class R, class... P>
struct signature_of<R(P...) noexcept> : signature_of<R(P...)> {};
template <class F>
struct signature_of<F*> : signature_of<F> {};

// Members, with their object as the first parameter: of any qualification, noexcept or not.
template <class M>
struct call_operator {
  using type = unknown_parameters;
  using with_object = unknown_parameters;
};
template <class C, class... P>
struct member_parameters {
  using type = parameter_list<P...>;
  using with_object = parameter_list<C, P...>;
};
#define NOPAL_MEMBER(QUALIFIERS, OBJECT)                                                  \
  template <class C, class R, class... P>                                                 \
  struct call_operator<R (C::*)(P...) QUALIFIERS> : member_parameters<C OBJECT, P...> {}; \
  template <class C, class R, class... P>                                                 \
  struct call_operator<R (C::*)(P...) QUALIFIERS noexcept> : member_parameters<C OBJECT, P...> {};
#define NOPAL_MEMBERS(CV) \
  NOPAL_MEMBER(CV, CV&)   \
  NOPAL_MEMBER(CV&, CV&)  \
  NOPAL_MEMBER(CV&&, CV&&)
NOPAL_MEMBERS()
NOPAL_MEMBERS(const)
NOPAL_MEMBERS(volatile)
NOPAL_MEMBERS(const volatile)
#undef NOPAL_MEMBERS
#undef NOPAL_MEMBER
// C++23: a function whose first parameter is its object.
template <class R, class Self, class... P>
struct call_operator<R (*)(Self, P...)> : member_parameters<Self, P...> {};
template <class R, class Self, class... P>
struct call_operator<R (*)(Self, P...) noexcept> : member_parameters<Self, P...> {};

template <class F>
  requires requires { &F::operator(); }
struct signature_of<F> {
  using type = call_operator<decltype(&F::operator())>::type;
};
template <class F>
  requires std::is_member_function_pointer_v<F>
struct signature_of<F> {
  using type = call_operator<F>::with_object;
};
template <class F>
struct signature_of<std::reference_wrapper<F>> : signature_of<F> {};

/// The first N of a list's parameters: the others have default arguments.
template <class List, class Indices>
struct first_of;
template <class... P, std::size_t... I>
struct first_of<parameter_list<P...>, std::index_sequence<I...>> {
  using type = parameter_list<typename parameter_list<P...>::template at<I>...>;
};
template <std::size_t N, class List>
struct first_parameters {
  using type = List;
};
template <std::size_t N, class... P>
  requires(N < sizeof...(P))
struct first_parameters<N, parameter_list<P...>> : first_of<parameter_list<P...>, std::make_index_sequence<N>> {};

/// True if parameters P... accept arguments A.... For a call operator template, whose template arguments are a guess.
template <class List, class... A>
inline constexpr bool accepts = false;
template <class... P, class... A>
  requires(sizeof...(P) == sizeof...(A))
inline constexpr bool accepts<parameter_list<P...>, A...> = (std::is_convertible_v<A, P> && ...);
template <class F, class... T>
concept has_instance = requires { &F::template operator()<T...>; };
/// The parameters of the call operator with template arguments T....
template <class F, class... T>
using instance = call_operator<decltype(&F::template operator()<T...>)>::type;

/// What `auto` stands for in a parameter that has turned out as P: auto&& binds by reference to an argument A that has a name.
template <class P, class A>
using placeholder = std::conditional_t<std::is_same_v<P, std::decay_t<A>&&> && std::is_lvalue_reference_v<A>, A, std::decay_t<A>>;
template <class F, class List, class... A>
struct instance_for {
  using type = unknown_parameters;
};
template <class F, class... P, class... A>
  requires(sizeof...(P) == sizeof...(A)) && has_instance<F, placeholder<P, A>...>
struct instance_for<F, parameter_list<P...>, A...> {
  using type = instance<F, placeholder<P, A>...>;
};

/// List, if it accepts arguments A...; else unknown_parameters.
template <class List, class... A>
struct if_it_accepts {
  using type = std::conditional_t<accepts<typename first_parameters<sizeof...(A), List>::type, A...>, List, unknown_parameters>;
};

/// The parameters of F as called with arguments A...: also those of a generic lambda whose placeholders are plain `auto`, `auto&` or
/// `auto&&`, all of them or only the first (a lambda that is given itself). Without arguments the parameters of a callable do not matter.
template <class F, class... A>
struct parameters_of {
  using type = std::conditional_t<sizeof...(A) == 0 && !signature_of<F>::type::known, parameter_list<>, typename signature_of<F>::type>;
};
template <class F, class... A>
  requires(!signature_of<F>::type::known) && (sizeof...(A) > 0) && has_instance<F, std::decay_t<A>...>
struct parameters_of<F, A...> {
  using type = if_it_accepts<typename instance_for<F, instance<F, std::decay_t<A>...>, A...>::type, A&&...>::type;
};
template <class F, class A0, class... A>
  requires(!signature_of<F>::type::known) && (sizeof...(A) > 0) && (!has_instance<F, std::decay_t<A0>, std::decay_t<A>...>) &&
          has_instance<F, std::decay_t<A0>>
struct parameters_of<F, A0, A...> {
  using type = if_it_accepts<instance<F, std::decay_t<A0>>, A0&&, A&&...>::type;
};
template <class F, class A0, class... A>
struct parameters_of<std::reference_wrapper<F>, A0, A...> : parameters_of<std::remove_cv_t<F>, A0, A...> {};

template <class T>
inline constexpr bool is_reference_wrapper = false;
template <class T>
inline constexpr bool is_reference_wrapper<std::reference_wrapper<T>> = true;

/// The parameter for a member's object that is given by something to dereference, as std::invoke allows: a smart pointer.
template <class A>
struct object_through {};

/// The parameter for the object of a member of C that is given as A: the object itself, a pointer or a std::reference_wrapper.
template <class C, class A>
using object_parameter =
    std::conditional_t<std::is_base_of_v<C, std::remove_cvref_t<A>>, A&&,
                       std::conditional_t<std::is_pointer_v<std::decay_t<A>> || is_reference_wrapper<std::remove_cvref_t<A>>,
                                          std::decay_t<A>, object_through<A&&>>>;
template <class M>
struct class_of;
template <class T, class C>
struct class_of<T C::*> {
  using type = C;
};
template <class List, class Object>
struct with_first {
  using type = unknown_parameters;
};
template <class First, class... P, class Object>
struct with_first<parameter_list<First, P...>, Object> {
  using type = parameter_list<Object, P...>;
};
template <class F, class A0, class... A>
  requires std::is_member_function_pointer_v<F>
struct parameters_of<F, A0, A...> {
  using type = with_first<typename signature_of<F>::type, object_parameter<typename class_of<F>::type, A0>>::type;
};
template <class F, class A0>
  requires std::is_member_object_pointer_v<F>
struct parameters_of<F, A0> {
  using type = parameter_list<object_parameter<typename class_of<F>::type, A0>>;
};

/// True if argument A may be bound to the reference parameter P for as long as a child runs: an lvalue to which P binds without a temporary
/// in between, or a std::reference_wrapper.
template <class P, class A>
inline constexpr bool binds_for_long =
    std::is_lvalue_reference_v<P> &&
    ((std::is_lvalue_reference_v<A> && std::is_convertible_v<std::remove_reference_t<A>*, std::remove_reference_t<P>*>) ||
     (is_reference_wrapper<std::remove_cvref_t<A>> && std::is_convertible_v<A, P>));

template <class T>
inline constexpr bool is_initializer_list = false;
template <class T>
inline constexpr bool is_initializer_list<std::initializer_list<T>> = true;

/// True if P is a view (std::span, std::string_view, std::initializer_list, …) that would be made from a temporary container A.
template <class P, class A>
inline constexpr bool views_a_temporary =
    !std::is_lvalue_reference_v<A> && std::ranges::range<P> && (std::ranges::borrowed_range<P> || is_initializer_list<P>) &&
    std::ranges::range<std::remove_cvref_t<A>> && !std::ranges::borrowed_range<std::remove_cvref_t<A>>;

}  // namespace nopal::core

namespace nopal::inline NOPAL_ABI {

// What may be given to a child or a job, and how its callable and each argument are stored: one rule for fork, call, submit, detach, run
// and sync_wait. All at compile time, but for store_callable, which the caller of fork or call runs. Next: child.hpp and
// scheduler/typed_job.hpp, which store them so.

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

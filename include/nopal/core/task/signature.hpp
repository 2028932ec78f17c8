#pragma once

// The parameters of a callable, so that a child's or a job's arguments are stored as its signature says: a value is copied before the
// caller continues, a reference is bound to the caller's own object, and what would dangle is refused. All at compile time. Next:
// arguments.hpp, which makes the rules of it.

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/abi.h"

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

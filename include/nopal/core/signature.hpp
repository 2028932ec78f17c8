#pragma once

// What a callable's parameters are, so that a forked child's arguments are taken as its signature says: a value is copied
// before the parent goes on, a reference is bound to the caller's own object, and what would dangle is refused.

#include <concepts>
#include <cstddef>
#include <functional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

namespace nopal::core {

template <class... P>
struct parameter_list {
  static constexpr bool known = true;
  static constexpr std::size_t count = sizeof...(P);
  template <std::size_t I>
  using at = std::tuple_element_t<I, std::tuple<std::type_identity<P>...>>::type;
};

struct unknown_parameters {
  static constexpr bool known = false;
};

template <class F>
struct signature_of {
  using type = unknown_parameters;
};

// Functions, and members with their object as the first parameter.
template <class R, class... P>
struct signature_of<R(P...)> {
  using type = parameter_list<P...>;
};
template <class R, class... P>
struct signature_of<R(P...) noexcept> : signature_of<R(P...)> {};
template <class F>
struct signature_of<F*> : signature_of<F> {};

template <class M>
struct call_operator;
#define NOPAL_MEMBER(QUALIFIERS)                            \
  template <class C, class R, class... P>                   \
  struct call_operator<R (C::*)(P...) QUALIFIERS> {         \
    using type = parameter_list<P...>;                      \
    using with_object = parameter_list<C QUALIFIERS&, P...>; \
  };
NOPAL_MEMBER()
NOPAL_MEMBER(const)
#undef NOPAL_MEMBER
template <class C, class R, class... P>
struct call_operator<R (C::*)(P...) noexcept> : call_operator<R (C::*)(P...)> {};
template <class C, class R, class... P>
struct call_operator<R (C::*)(P...) const noexcept> : call_operator<R (C::*)(P...) const> {};

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

/// The parameters of F as called with arguments A...: also those of a generic lambda whose placeholders are plain `auto`, all of
/// them or only the first (a lambda that is handed itself).
template <class F, class... A>
struct parameters_of {
  using type = signature_of<F>::type;
};
template <class F, class... A>
  requires(!signature_of<F>::type::known) && requires { &F::template operator()<std::decay_t<A>...>; }
struct parameters_of<F, A...> {
  using type = call_operator<decltype(&F::template operator()<std::decay_t<A>...>)>::type;
};
template <class F, class A0, class... A>
  requires(!signature_of<F>::type::known) && (sizeof...(A) > 0) &&
          (!requires { &F::template operator()<std::decay_t<A0>, std::decay_t<A>...>; }) &&
          requires { &F::template operator()<std::decay_t<A0>>; }
struct parameters_of<F, A0, A...> {
  using type = call_operator<decltype(&F::template operator()<std::decay_t<A0>>)>::type;
};

// A member function whose object is given by pointer, as std::invoke allows.
template <class List, class Object>
struct with_first;
template <class First, class... P, class Object>
struct with_first<parameter_list<First, P...>, Object> {
  using type = parameter_list<Object, P...>;
};
template <class F, class A0, class... A>
  requires std::is_member_function_pointer_v<F> && std::is_pointer_v<std::decay_t<A0>>
struct parameters_of<F, A0, A...> {
  using type = with_first<typename signature_of<F>::type, std::decay_t<A0>>::type;
};

template <class T>
inline constexpr bool is_reference_wrapper = false;
template <class T>
inline constexpr bool is_reference_wrapper<std::reference_wrapper<T>> = true;

/// May argument A be bound to the reference parameter P for as long as a child runs? An lvalue to which P binds without a
/// temporary in between, or a std::reference_wrapper.
template <class P, class A>
inline constexpr bool binds_for_long =
    std::is_lvalue_reference_v<P> &&
    ((std::is_lvalue_reference_v<A> && std::is_convertible_v<std::remove_reference_t<A>*, std::remove_reference_t<P>*>) ||
     (is_reference_wrapper<std::remove_cvref_t<A>> && std::is_convertible_v<A, P>));

/// A view parameter (std::span, std::string_view, …) made from a container that is about to die.
template <class P, class A>
inline constexpr bool views_a_temporary = !std::is_lvalue_reference_v<A> && std::ranges::range<P> &&
                                          std::ranges::borrowed_range<P> && std::ranges::range<std::remove_cvref_t<A>> &&
                                          !std::ranges::borrowed_range<std::remove_cvref_t<A>>;

}  // namespace nopal::core

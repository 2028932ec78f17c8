#pragma once

// A tuple without std::tuple's constructors, so that a pack of small trivial arguments is itself trivial and travels in registers
// (docs/fork-cost.md).

#include <cstddef>
#include <utility>

#include "nopal/core/task/forwarding.hpp"

namespace nopal::core {

template <std::size_t I, class T>
struct pack_element {
  T value;
};

template <class... T>
struct pack;
template <class Indices, class... T>
struct pack_base;
template <std::size_t... I, class... T>
struct pack_base<std::index_sequence<I...>, T...> : pack_element<I, T>... {
  /// f(the elements as lvalues...).
  template <class F>
  [[gnu::always_inline]] decltype(auto) apply(F&& f) {
    return static_cast<F&&>(f)(static_cast<pack_element<I, T>&>(*this).value...);
  }
  /// The elements, moved out for a child that starts now.
  [[gnu::always_inline]] pack<T...> hand_over() { return {{{outgoing<T>(static_cast<pack_element<I, T>&>(*this).value)}...}}; }
};

/// An aggregate of T...; references stay references. Make one by pack<T...>{{a}, {b}, ...}.
template <class... T>
struct pack : pack_base<std::index_sequence_for<T...>, T...> {};

template <class... T, class... A>
[[gnu::always_inline]] inline pack<T...> make_pack(A&&... a) {
  return {{{static_cast<T>(static_cast<A&&>(a))}...}};  // the callable accepts these conversions: checked by then
}

}  // namespace nopal::core

#pragma once

// The stored arguments of a child or a job: a tuple without std::tuple's constructors, so that a pack of small trivial arguments is itself
// trivial and travels in registers (docs/fork-cost.md). Only the worker that starts the child or job touches it. Next: forwarding.hpp, how
// its elements are handed over; child.hpp, which stores one.

#include <cstddef>
#include <utility>

#include "nopal/core/task/forwarding.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
  /// Calls f with the elements as lvalues, and returns its result.
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

/// A pack of T..., each made from the argument at its place.
template <class... T, class... A>
[[gnu::always_inline]] inline pack<T...> make_pack(A&&... a) {
  return {{{static_cast<T>(static_cast<A&&>(a))}...}};  // arguments.hpp has checked that these conversions exist
}

}  // namespace nopal::core

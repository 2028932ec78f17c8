#pragma once

// How reductions and scans make a value of an element alone, and of two operands, and how they call functions of elements. Called by
// reduction.hpp, ../../algorithm/internal/scan.hpp and ../../algorithm/reduce.hpp.

#include <functional>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/eventually.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A T made of an element.
template <class T, class X>
NOPAL_INLINE constexpr T made_of(X&& x) {
  return static_cast<T>(core::source_of<T>(static_cast<X&&>(x)));
}

/// op(a, b) as a T. op is called directly: std::invoke would convert an operand to what op takes, and the converted operand would be gone
/// before a reference to it, which op returns, is read. So std::max of longs joins ints.
template <class T, class Op, class A, class B>
NOPAL_INLINE constexpr T joined(Op& op, A&& a, B&& b) {
  if constexpr (!requires { op(static_cast<A&&>(a), static_cast<B&&>(b)); }) {  // a pointer to a member function
    return static_cast<T>(std::invoke(op, static_cast<A&&>(a), static_cast<B&&>(b)));
  } else if constexpr (std::is_reference_v<decltype(op(static_cast<A&&>(a), static_cast<B&&>(b)))>) {
    return core::made_of<T>(op(static_cast<A&&>(a), static_cast<B&&>(b)));
  } else {
    return static_cast<T>(op(static_cast<A&&>(a), static_cast<B&&>(b)));
  }
}

/// use(f(x...)). f is called directly, as in joined: its result may refer to a converted x, which lives until use returns.
template <class Use, class F, class... X>
NOPAL_INLINE constexpr decltype(auto) use_result(Use& use, F& f, X&&... x) {
  if constexpr (requires { f(static_cast<X&&>(x)...); }) {
    return use(f(static_cast<X&&>(x)...));
  } else {  // a pointer to a member
    return use(std::invoke(f, static_cast<X&&>(x)...));
  }
}

}  // namespace nopal::core

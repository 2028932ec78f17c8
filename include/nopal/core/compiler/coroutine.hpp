#pragma once

// What GCC and Clang do differently with coroutines, so that the rest of the library need not know. Used by ../task/promise.hpp.

#include <coroutine>

#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What await_transform returns for an awaiter that is part of the promise. Without it a fork costs 8 instructions more with GCC.
#if defined(__clang__)
template <class A>
using awaiter_of_promise = A&;
#else  // GCC copies an awaiter that is an lvalue, so it gets a small one that refers to the promise.
template <class A>
struct awaiter_of_promise {
  A& promise;
  NOPAL_INLINE awaiter_of_promise(A& p) noexcept : promise{p} {}
  NOPAL_INLINE bool await_ready() noexcept { return promise.await_ready(); }
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<> h) { return promise.await_suspend(h); }
  NOPAL_INLINE void await_resume() { promise.await_resume(); }
};
#endif

}  // namespace nopal::core

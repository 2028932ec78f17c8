#pragma once

// What the two compilers do differently with coroutines, so that the rest of the library need not know.

#include <coroutine>

#include "nopal/core/compiler/config.hpp"

namespace nopal::core {

/// What await_transform gives for an awaiter that is part of the promise. 8 instructions a fork dearer without it, with GCC.
#if defined(__clang__)
template <class A>
using awaiter_of_promise = A&;
#else  // GCC copies an awaiter that is an lvalue: give it a small one that refers to the promise.
template <class A>
struct awaiter_of_promise {
  A& promise;
  NOPAL_INLINE awaiter_of_promise(A& p) noexcept : promise{p} {}
  NOPAL_INLINE bool await_ready() noexcept { return promise.await_ready(); }
  NOPAL_INLINE bool await_suspend(std::coroutine_handle<> h) { return promise.await_suspend(h); }
  NOPAL_INLINE void await_resume() { promise.await_resume(); }
};
#endif

}  // namespace nopal::core

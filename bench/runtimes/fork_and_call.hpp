#pragma once

#include <utility>

namespace bench {

// Calls f as if its body stood here. Whatever stands between a kernel and its library is always inlined, so that the kernel is compiled as
// though it were written for that library alone.
template <class F>
[[gnu::always_inline, gnu::flatten]] inline void call_here(F&& f) {
  f();
}

// Forks all but the last and calls that: how an invoker uses a library that has a group of tasks.
template <class Group, class F, class... More>
[[gnu::always_inline]] inline void fork_and_call(Group& children, F&& f, More&&... more) {
  if constexpr (sizeof...(more) == 0) {
    call_here(f);
  } else {
    children.fork(std::forward<F>(f));
    fork_and_call(children, std::forward<More>(more)...);
  }
}

}  // namespace bench

#pragma once

// The programs on native stacks are compiled twice: forks by nopal::parallel_invoke, and by a nopal::scope.

#include <utility>

#include "nopal.hpp"

namespace bench {

#if defined(NOPAL_BENCH_SCOPE)
using group = nopal::scope;

template <class F>
void fork_all(nopal::scope& /*children*/, F&& last) {
  last();
}

template <class F, class... More>
void fork_all(nopal::scope& children, F&& f, More&&... more) {
  children.fork(std::forward<F>(f));
  fork_all(children, std::forward<More>(more)...);
}

// The compiler may leave these calls as they are, as in any program that has such a function over a scope.
struct invoker {
  template <class... F>
  void operator()(F&&... f) {
    nopal::scope children;
    fork_all(children, std::forward<F>(f)...);
    children.join();
  }
};
#else
struct invoker {
  template <class... F>
  NOPAL_INLINE void operator()(F&&... f) {
    nopal::parallel_invoke(std::forward<F>(f)...);
  }
};
#endif

}  // namespace bench

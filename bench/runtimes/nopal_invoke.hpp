#pragma once

// The programs on native stacks are compiled twice: forks by nopal::parallel_invoke, and by a nopal::scope.

#include <utility>

#include "fork_and_call.hpp"
#include "nopal.hpp"

namespace bench {

#if defined(NOPAL_BENCH_SCOPE)
using group = nopal::scope;

struct invoker {
  template <class... F>
  [[gnu::always_inline]] void operator()(F&&... f) {
    nopal::scope children;
    fork_and_call(children, std::forward<F>(f)...);
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

#pragma once

// The programs on native stacks are compiled twice: forks by nopal::parallel_invoke, and by a nopal::scope.

#include <utility>

#include "nopal.hpp"

namespace bench {

#if defined(NOPAL_BENCH_SCOPE)
inline constexpr const char* invoke_name = "scope";

template <class F>
void fork_all(nopal::scope& /*children*/, F&& last) {
  last();
}

template <class F, class... More>
void fork_all(nopal::scope& children, F&& f, More&&... more) {
  children.fork(std::forward<F>(f));
  fork_all(children, std::forward<More>(more)...);
}

template <class... F>
void invoke(F&&... functions) {
  nopal::scope children;
  fork_all(children, std::forward<F>(functions)...);
  children.join();
}
#else
inline constexpr const char* invoke_name = "native";

template <class... F>
NOPAL_INLINE void invoke(F&&... functions) {
  nopal::parallel_invoke(std::forward<F>(functions)...);
}
#endif

}  // namespace bench

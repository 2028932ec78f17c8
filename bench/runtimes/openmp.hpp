#pragma once

#include <dlfcn.h>
#include <omp.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>

#include "../harness.hpp"

namespace bench {

// OpenMP tasks. Each run opens the parallel region, as any user does; the team made by the warm-up stays.
struct openmp_runtime {
  explicit openmp_runtime(unsigned count) : workers{static_cast<int>(count)} {
    // Read when the first region starts. A waiting task runs others on top of itself: stacks as deep as the caller's.
    setenv("OMP_STACKSIZE", std::to_string(deep_stack / 1024).append("K").c_str(), 0);
  }

  // The library that was loaded: the compiler's version does not tell.
  static std::string version() {
    std::string result = "OpenMP " + std::to_string(_OPENMP);
    Dl_info library{};
    if (dladdr(reinterpret_cast<void*>(&omp_get_num_threads), &library) != 0)
      result += ", " + std::filesystem::canonical(library.dli_fname).string();
    return result;
  }

  template <class F, class... A>
  auto run(F&& f, A&&... a) {
    if constexpr (std::is_void_v<std::invoke_result_t<F, A...>>) {
#pragma omp parallel num_threads(workers)
#pragma omp single
      f(std::forward<A>(a)...);
    } else {
      std::invoke_result_t<F, A...> result{};
#pragma omp parallel num_threads(workers)
#pragma omp single
      result = f(std::forward<A>(a)...);
      return result;
    }
  }

  int workers;
};
using runtime = openmp_runtime;

}  // namespace bench

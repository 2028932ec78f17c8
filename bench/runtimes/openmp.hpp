#pragma once

#include <dlfcn.h>
#include <omp.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "../harness.hpp"

namespace bench {

// OpenMP tasks. A program opens the parallel region itself, as any user does; the team made by the warm-up stays.
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

  int workers;
};

}  // namespace bench

// nopal::sort and stable_sort; std::sort and std::stable_sort; these in the parallel mode of GCC's library, which runs on oneTBB; and
// oneTBB's parallel_sort, which is not stable.

#include <algorithm>
#if defined(NOPAL_BENCH_PARALLEL_MODE)
#include <execution>
#elif defined(NOPAL_BENCH_TBB)
#include <oneapi/tbb/parallel_sort.h>
#elif defined(NOPAL_BENCH_NATIVE)
#include "nopal/algorithm/sort.hpp"
#endif

#include "sort.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_PARALLEL_MODE)
struct runtime : bench::tbb_runtime {
  using tbb_runtime::tbb_runtime;
  static std::string version() { return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE) + " on " + tbb_runtime::version(); }
};
#else
using bench::runtime;
#endif

void sort(auto& v) {
#if defined(NOPAL_BENCH_PARALLEL_MODE) && defined(NOPAL_BENCH_STABLE)
  std::stable_sort(std::execution::par, v.begin(), v.end());
#elif defined(NOPAL_BENCH_PARALLEL_MODE)
  std::sort(std::execution::par, v.begin(), v.end());
#elif defined(NOPAL_BENCH_TBB)
  oneapi::tbb::parallel_sort(v.begin(), v.end());
#elif defined(NOPAL_BENCH_NATIVE) && defined(NOPAL_BENCH_STABLE)
  nopal::stable_sort(v);
#elif defined(NOPAL_BENCH_NATIVE)
  nopal::sort(v);
#elif defined(NOPAL_BENCH_STABLE)
  std::stable_sort(v.begin(), v.end());
#else
  std::sort(v.begin(), v.end());
#endif
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::sort_problem, runtime>(
      argc, argv, [](auto& on, auto& problem) { on.run([&] { problem.with_values([](auto& v) { sort(v); }); }); });
}

// The standard library's own: GCC's runs on oneTBB.

#include <algorithm>
#include <execution>

#include "../runtimes/tbb.hpp"
#include "sort.hpp"

namespace {

struct parallel_mode : bench::tbb_runtime {
  using tbb_runtime::tbb_runtime;
  static std::string version() { return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE) + " on " + tbb_runtime::version(); }
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::sort_problem, parallel_mode>(argc, argv, "parallel_mode", [](auto& on, auto& problem) {
    on.arena.execute([&] {
      problem.with_values([](auto& v) {
#if defined(NOPAL_BENCH_STABLE)
        std::stable_sort(std::execution::par, v.begin(), v.end());
#else
        std::sort(std::execution::par, v.begin(), v.end());
#endif
      });
    });
  });
}

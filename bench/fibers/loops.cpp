#include "loops.hpp"

#include "../runtimes/runtime.hpp"

int main(int argc, char** argv) {
  return bench::run_kernel<bench::loops_problem>(argc, argv, []([[maybe_unused]] auto& on, auto& problem) {
#if defined(NOPAL_BENCH_THREADS) && defined(NOPAL_BENCH_EACH)
    on.each(problem.count, [&](std::size_t i) { problem.work(i); });
#elif defined(NOPAL_BENCH_THREADS)
    on.split(problem.count, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) problem.work(i);
    });
#elif defined(NOPAL_BENCH_FIBER)
    on.run([&] {
      bench::group left;
      for (std::size_t i = 0; i < problem.count; ++i) left.fork([&problem, i] { problem.work(i, nopal::this_worker::index()); });
      left.join();
    });
#else
    for (std::size_t i = 0; i < problem.count; ++i) problem.work(i);
#endif
  });
}

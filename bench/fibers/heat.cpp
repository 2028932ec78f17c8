#include <barrier>

#include "heat.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_THREADS)
void heat(const bench::threads_runtime& on, bench::heat_of_strips& problem) {
  std::barrier all_done{static_cast<std::ptrdiff_t>(on.workers), [&]() noexcept { problem.next(); }};
  on.split(problem.strips, [&](std::size_t first, std::size_t last) {
    for (std::size_t step = 0; step < problem.steps; ++step) {
      for (std::size_t i = first; i < last; ++i) problem.step_of(i);
      all_done.arrive_and_wait();
    }
  });
}
#else
void heat(auto& on, bench::heat_of_strips& problem) {
  on.run([&] {
    for (std::size_t step = 0; step < problem.steps; ++step) {
      bench::group left;
      for (std::size_t i = 0; i < problem.strips; ++i) left.fork([&problem, i] { problem.step_of(i); });
      left.join();
      problem.next();
    }
  });
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::heat_of_strips>(argc, argv, [](auto& on, auto& problem) { heat(on, problem); });
}

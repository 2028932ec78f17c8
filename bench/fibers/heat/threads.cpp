#include <barrier>

#include "../../runtimes/threads.hpp"
#include "heat.hpp"

namespace {

void heat(const bench::threads_runtime& on, bench::heat_of_strips& problem) {
  std::barrier all_done{static_cast<std::ptrdiff_t>(on.workers), [&]() noexcept { problem.next(); }};
  on.split(problem.strips, [&](std::size_t first, std::size_t last) {
    for (std::size_t step = 0; step < problem.steps; ++step) {
      for (std::size_t i = first; i < last; ++i) problem.step_of(i);
      all_done.arrive_and_wait();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::heat_of_strips, bench::threads_runtime>(argc, argv, "threads",
                                                                   [](auto& on, auto& problem) { heat(on, problem); });
}

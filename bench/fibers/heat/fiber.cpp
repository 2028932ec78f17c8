#include "../../runtimes/nopal.hpp"
#include "heat.hpp"

namespace {

void heat(bench::heat_of_strips& problem) {
  for (std::size_t step = 0; step < problem.steps; ++step) {
    nopal::counter left;
    for (std::size_t i = 0; i < problem.strips; ++i) nopal::spawn(left, [&problem, i] { problem.step_of(i); });
    nopal::wait_for(left);
    problem.next();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::heat_of_strips, bench::nopal_runtime>(argc, argv, "fiber",
                                                                 [](auto& on, auto& problem) { on.pool.run([&] { heat(problem); }); });
}

#include "../../runtimes/serial.hpp"
#include "heat.hpp"

namespace {

void step(bench::heat_problem& problem, std::size_t first, std::size_t last) {
  if (last - first <= bench::heat_problem::strip) return problem.step(first, last);
  const std::size_t middle = first + (last - first) / 2;
  step(problem, first, middle);
  step(problem, middle, last);
}

void heat(bench::heat_problem& problem) {
  for (std::size_t i = 0; i < problem.steps; ++i) {
    step(problem, problem.first_row(), problem.last_row());
    problem.next();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::heat_problem, bench::serial_runtime>(argc, argv, "serial", [](auto&, auto& problem) { heat(problem); });
}

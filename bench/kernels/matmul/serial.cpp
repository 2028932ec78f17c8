#include "../../runtimes/serial.hpp"
#include "matmul.hpp"

namespace {

void multiply(bench::matmul_problem& problem, bench::cube at) {
  if (at.size == 1) return problem.multiply(at);
  for (const auto& step : at.steps())
    for (const bench::cube& part : step) multiply(problem, part);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::matmul_problem, bench::serial_runtime>(argc, argv, "serial",
                                                                  [](auto&, auto& problem) { multiply(problem, problem.whole()); });
}

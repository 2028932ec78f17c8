#include "../../runtimes/nopal_invoke.hpp"
#include "matmul.hpp"

namespace {

void multiply(bench::matmul_problem& problem, bench::cube at) {
  if (at.size == 1) return problem.multiply(at);
  for (const auto& part : at.steps())
    bench::invoke([&] { multiply(problem, part[0]); }, [&] { multiply(problem, part[1]); }, [&] { multiply(problem, part[2]); },
                  [&] { multiply(problem, part[3]); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::matmul_problem, bench::nopal_runtime>(
      argc, argv, bench::invoke_name, [](auto& on, auto& problem) { on.pool.run(multiply, problem, problem.whole()); });
}

#include "../../runtimes/tbb.hpp"

#include "matmul.hpp"

namespace {

void multiply(bench::matmul_problem& problem, bench::cube at) {
  if (at.size == 1) return problem.multiply(at);
  for (const auto& part : at.steps()) {
    tbb::task_group group;
    group.run([&] { multiply(problem, part[0]); });
    group.run([&] { multiply(problem, part[1]); });
    group.run([&] { multiply(problem, part[2]); });
    multiply(problem, part[3]);
    group.wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::matmul_problem, bench::tbb_runtime>(
      argc, argv, "tbb", [](auto& on, auto& problem) { on.arena.execute([&] { multiply(problem, problem.whole()); }); });
}

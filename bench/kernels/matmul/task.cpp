#include "../../runtimes/nopal.hpp"
#include "matmul.hpp"

namespace {

nopal::task<void> multiply(bench::matmul_problem& problem, bench::cube at) {
  if (at.size == 1) {
    problem.multiply(at);
    co_return;
  }
  for (const auto& part : at.steps()) {
    co_await nopal::fork(multiply, problem, part[0]);
    co_await nopal::fork(multiply, problem, part[1]);
    co_await nopal::fork(multiply, problem, part[2]);
    co_await nopal::call(multiply, problem, part[3]);
    co_await nopal::join;
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::matmul_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { on.pool.run(multiply, problem, problem.whole()); });
}

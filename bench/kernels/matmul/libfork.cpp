#include "../../runtimes/libfork.hpp"
#include "matmul.hpp"

namespace {

constexpr auto multiply = [](auto self, bench::matmul_problem* problem, bench::cube at) -> lf::task<> {
  if (at.size == 1) {
    problem->multiply(at);
    co_return;
  }
  for (const auto& part : at.steps()) {
    co_await lf::fork(self)(problem, part[0]);
    co_await lf::fork(self)(problem, part[1]);
    co_await lf::fork(self)(problem, part[2]);
    co_await lf::call(self)(problem, part[3]);
    co_await lf::join;
  }
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::matmul_problem, bench::libfork_runtime>(
      argc, argv, "libfork", [](auto& on, auto& problem) { lf::sync_wait(on.pool, multiply, &problem, problem.whole()); });
}

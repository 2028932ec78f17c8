#include "../../runtimes/nopal.hpp"
#include "rectmul.hpp"

namespace {

nopal::task<void> multiply(bench::rectangle at) {
  if (at.is_leaf()) {
    at.multiply();
    co_return;
  }
  const bench::rectangle_halves half{at};
  co_await nopal::fork(multiply, half.first);
  co_await nopal::call(multiply, half.second);
  co_await nopal::join;
  half.add();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::rectmul_problem, bench::nopal_runtime>(
      argc, argv, "task", [](auto& on, auto& problem) { on.pool.run(multiply, bench::whole(problem)); });
}

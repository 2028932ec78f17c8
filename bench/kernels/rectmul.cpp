#include "rectmul.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
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
#else
void multiply(const bench::rectangle& at) {
  if (at.is_leaf()) return at.multiply();
  const bench::rectangle_halves half{at};
  bench::invoker invoke;
  invoke([&] { multiply(half.first); }, [&] { multiply(half.second); });
  half.add();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::rectmul_problem>(argc, argv, [](auto& on, auto& problem) { on.run(multiply, bench::whole(problem)); });
}

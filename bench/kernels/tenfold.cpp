#include "tenfold.hpp"

#include <array>

#include "../runtimes/runtime.hpp"

namespace {

constexpr int children = bench::tenfold_problem::children;

long sum(const std::array<long, children>& parts) {
  long all = 0;
  for (const long part : parts) all += part;
  return all;
}

#if defined(NOPAL_BENCH_TASK)
nopal::task<long> leaves(int depth) {
  if (depth == 0) co_return 1;
  std::array<long, children> parts;
  for (long& part : parts) co_await nopal::fork(&part, leaves, depth - 1);
  co_await nopal::join;
  co_return sum(parts);
}
#elif defined(NOPAL_BENCH_LIBFORK)
constexpr auto leaves = [](auto self, int depth) -> lf::task<long> {
  if (depth == 0) co_return 1;
  std::array<long, children> parts;
  for (long& part : parts) co_await lf::fork(&part, self)(depth - 1);
  co_await lf::join;
  co_return sum(parts);
};
#elif defined(NOPAL_BENCH_OPENMP)
long leaves(int depth) {
  if (depth == 0) return 1;
  std::array<long, children> parts;
  for (long& part : parts) {
#pragma omp task shared(part)
    part = leaves(depth - 1);
  }
#pragma omp taskwait
  return sum(parts);
}
#else
long leaves(int depth, auto&... on) {
  if (depth == 0) return 1;
  std::array<long, children> parts;
  bench::group forked{on...};
  for (long& part : parts) forked.fork([&part, depth, &on...] { part = leaves(depth - 1, on...); });
  forked.join();
  return sum(parts);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::tenfold_problem>(argc, argv, [](auto& on, auto& problem) {
#if defined(NOPAL_BENCH_COROUTINES) || defined(NOPAL_BENCH_OPENMP)
    problem.found = on.run(leaves, problem.depth);
#else
    on.run([&](auto&... more) { problem.found = leaves(problem.depth, more...); });
#endif
  });
}

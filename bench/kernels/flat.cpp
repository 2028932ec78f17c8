#include "flat.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
nopal::task<std::uint32_t> child(std::uint32_t i) { co_return bench::flat_problem::value(i); }

nopal::task<void> loop(std::span<std::uint32_t> results) {
  for (std::uint32_t i = 0; i < results.size(); ++i) co_await nopal::fork(&results[i], child, i);
  co_await nopal::join;
}
#elif defined(NOPAL_BENCH_LIBFORK)
constexpr auto child = [](auto, std::uint32_t i) -> lf::task<std::uint32_t> { co_return bench::flat_problem::value(i); };

constexpr auto loop = [](auto, std::span<std::uint32_t> results) -> lf::task<> {
  for (std::uint32_t i = 0; i < results.size(); ++i) co_await lf::fork(&results[i], child)(i);
  co_await lf::join;
};
#elif defined(NOPAL_BENCH_OPENMP)
void loop(std::span<std::uint32_t> results) {
  for (std::uint32_t i = 0; i < results.size(); ++i) {
#pragma omp task firstprivate(results, i)
    results[i] = bench::flat_problem::value(i);
  }
#pragma omp taskwait
}
#else
void loop(std::span<std::uint32_t> results, auto&... on) {
  bench::group children{on...};
  for (std::uint32_t i = 0; i < results.size(); ++i) children.fork([&to = results[i], i] { to = bench::flat_problem::value(i); });
  children.join();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::flat_problem>(argc, argv, [](auto& on, auto& problem) {
#if defined(NOPAL_BENCH_COROUTINES)
    on.run(loop, std::span{problem.results});
#else
    on.run([&](auto&... more) { loop(problem.results, more...); });
#endif
  });
}

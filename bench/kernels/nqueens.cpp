#include "nqueens.hpp"

#include "../runtimes/runtime.hpp"

namespace {

#if defined(NOPAL_BENCH_TASK)
nopal::task<long> nqueens(bench::board queens) {
  if (queens.full()) co_return 1;
  bench::counts parts{};
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) co_await nopal::fork(&parts[column], nqueens, queens.with(column));
  co_await nopal::join;
  co_return queens.sum(parts);
}
#elif defined(NOPAL_BENCH_LIBFORK)
constexpr auto nqueens = [](auto self, bench::board queens) -> lf::task<long> {
  if (queens.full()) co_return 1;
  bench::counts parts{};
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) co_await lf::fork(&parts[column], self)(queens.with(column));
  co_await lf::join;
  co_return queens.sum(parts);
};
#elif defined(NOPAL_BENCH_NATIVE) || defined(NOPAL_BENCH_SCOPE)
// By halves, for which forks in pairs are enough.
long nqueens(const bench::board& queens);

// The sum over the columns in [first, last), which are free.
long sum(const bench::board& queens, const std::uint8_t* first, const std::uint8_t* last) {
  if (first == last) return 0;
  if (last - first == 1) return nqueens(queens.with(*first));
  const std::uint8_t* const middle = first + (last - first) / 2;
  long a = 0;
  long b = 0;
  bench::invoker invoke;
  invoke([&] { a = sum(queens, first, middle); }, [&] { b = sum(queens, middle, last); });
  return a + b;
}

long nqueens(const bench::board& queens) {
  if (queens.full()) return 1;
  std::array<std::uint8_t, bench::most_queens> columns;
  std::uint8_t* last = columns.data();
  if (queens.size > columns.size()) __builtin_unreachable();  // said, or GCC 12 warns of what it makes of the loop
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) *last++ = static_cast<std::uint8_t>(column);
  return sum(queens, columns.data(), last);
}
#elif defined(NOPAL_BENCH_SERIAL)
long nqueens(bench::board queens) {
  if (queens.full()) return 1;
  bench::counts parts{};
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) parts[column] = nqueens(queens.with(column));
  return queens.sum(parts);
}
#elif defined(NOPAL_BENCH_OPENMP)
long nqueens(const bench::board& queens) {
  if (queens.full()) return 1;
  bench::counts parts{};
  for (std::size_t column = 0; column < queens.size; ++column) {
    if (!queens.free(column)) continue;
    const bench::board next = queens.with(column);
#pragma omp task shared(parts) firstprivate(next, column)
    parts[column] = nqueens(next);
  }
#pragma omp taskwait
  return queens.sum(parts);
}
#else
long nqueens(const bench::board& queens, auto&... on) {
  if (queens.full()) return 1;
  bench::counts parts{};
  bench::group children{on...};
  for (std::size_t column = 0; column < queens.size; ++column)
    if (queens.free(column)) children.fork([&part = parts[column], next = queens.with(column), &on...] { part = nqueens(next, on...); });
  children.join();
  return queens.sum(parts);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::nqueens_problem>(argc, argv, [](auto& on, auto& problem) {
#if defined(NOPAL_BENCH_COROUTINES)
    problem.answer = on.run(nqueens, problem.empty());
#else
    on.run([&](auto&... more) { problem.answer = nqueens(problem.empty(), more...); });
#endif
  });
}

#include "fft.hpp"

#include "../runtimes/runtime.hpp"

namespace {

using bench::complex;
using bench::fft_problem;

#if defined(NOPAL_BENCH_TASK)
enum class step { sort, combine };

// One of the two loops of a transform, over [first, last) in pieces.
nopal::task<void> loop(step which, const fft_problem& problem, const complex* from, complex* to, std::size_t length, std::size_t first,
                       std::size_t last) {
  if (last - first <= fft_problem::piece) {
    if (which == step::sort)
      fft_problem::sort(from, to, length, first, last);
    else
      problem.combine(from, to, length, first, last);
    co_return;
  }
  const std::size_t middle = first + (last - first) / 2;
  co_await nopal::fork(loop, which, problem, from, to, length, first, middle);
  co_await nopal::call(loop, which, problem, from, to, length, middle, last);
  co_await nopal::join;
}

// Transforms the points at x in place, with as many at y for scratch.
nopal::task<void> fft(const fft_problem& problem, complex* x, complex* y, std::size_t length) {
  if (length <= fft_problem::leaf) {
    problem.transform(x, length);
    co_return;
  }
  const std::size_t quarter = length / 4;
  co_await nopal::call(loop, step::sort, problem, x, y, length, std::size_t{0}, quarter);
  for (std::size_t i = 0; i < 3; ++i) co_await nopal::fork(fft, problem, y + i * quarter, x + i * quarter, quarter);
  co_await nopal::call(fft, problem, y + 3 * quarter, x + 3 * quarter, quarter);
  co_await nopal::join;
  co_await nopal::call(loop, step::combine, problem, y, x, length, std::size_t{0}, quarter);
}
#else
// The loop over [first, last) in pieces.
template <class Body>
void for_pieces(std::size_t first, std::size_t last, const Body& body) {
  if (last - first <= fft_problem::piece) return body(first, last);
  const std::size_t middle = first + (last - first) / 2;
  bench::invoker invoke;
  invoke([&] { for_pieces(first, middle, body); }, [&] { for_pieces(middle, last, body); });
}

// Transforms the points at x in place, with as many at y for scratch.
void fft(const fft_problem& problem, complex* x, complex* y, std::size_t length) {
  if (length <= fft_problem::leaf) return problem.transform(x, length);
  const std::size_t quarter = length / 4;
  for_pieces(0, quarter, [&](std::size_t first, std::size_t last) { fft_problem::sort(x, y, length, first, last); });
  bench::invoker invoke;
  invoke([&] { fft(problem, y, x, quarter); }, [&] { fft(problem, y + quarter, x + quarter, quarter); },
         [&] { fft(problem, y + 2 * quarter, x + 2 * quarter, quarter); },
         [&] { fft(problem, y + 3 * quarter, x + 3 * quarter, quarter); });
  for_pieces(0, quarter, [&](std::size_t first, std::size_t last) { problem.combine(y, x, length, first, last); });
}
#endif

}  // namespace

int main(int argc, char** argv) {
  return bench::run_kernel<bench::fft_problem>(
      argc, argv, [](auto& on, auto& problem) { on.run(fft, problem, problem.points.data(), problem.scratch.data(), problem.n); });
}

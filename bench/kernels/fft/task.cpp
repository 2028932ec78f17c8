#include "../../runtimes/nopal.hpp"
#include "fft.hpp"

namespace {

using bench::complex;
using bench::fft_problem;

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

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fft_problem, bench::nopal_runtime>(argc, argv, "task", [](auto& on, auto& problem) {
    on.pool.run(fft, problem, problem.points.data(), problem.scratch.data(), problem.n);
  });
}

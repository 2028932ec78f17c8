#include "../../runtimes/serial.hpp"
#include "fft.hpp"

namespace {

using bench::complex;
using bench::fft_problem;

// The loop over [first, last) in pieces.
template <class Body>
void for_pieces(std::size_t first, std::size_t last, const Body& body) {
  if (last - first <= fft_problem::piece) return body(first, last);
  const std::size_t middle = first + (last - first) / 2;
  for_pieces(first, middle, body);
  for_pieces(middle, last, body);
}

// Transforms the points at x in place, with as many at y for scratch.
void fft(const fft_problem& problem, complex* x, complex* y, std::size_t length) {
  if (length <= fft_problem::leaf) return problem.transform(x, length);
  const std::size_t quarter = length / 4;
  for_pieces(0, quarter, [&](std::size_t first, std::size_t last) { fft_problem::sort(x, y, length, first, last); });
  fft(problem, y, x, quarter);
  fft(problem, y + quarter, x + quarter, quarter);
  fft(problem, y + 2 * quarter, x + 2 * quarter, quarter);
  fft(problem, y + 3 * quarter, x + 3 * quarter, quarter);
  for_pieces(0, quarter, [&](std::size_t first, std::size_t last) { problem.combine(y, x, length, first, last); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::fft_problem, bench::serial_runtime>(
      argc, argv, "serial", [](auto&, auto& problem) { fft(problem, problem.points.data(), problem.scratch.data(), problem.n); });
}

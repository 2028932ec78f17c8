#pragma once

// integrate: ∫ (x² + 1)x dx over [0, n] by the trapezoid rule, halving an interval until its two halves agree with the
// whole to ε. A binary tree like fib's, with a little arithmetic in every node and a shape that depends on it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "../harness.hpp"

namespace bench {

struct integrate_problem {
  static constexpr const char* name = "integrate";
  static constexpr double epsilon = 1e-9;

  explicit integrate_problem(const options& opts) : n{pick(opts, {.smoke = 8, .standard = 300, .paper = 10'000})} {}

  static double function(double x) { return (x * x + 1) * x; }

  // f(x1, y1, x2, y2, area) of the whole interval: both ends, with the function there, and the area by one trapezoid.
  auto whole(auto&& f) const {
    const double end = static_cast<double>(n);
    return f(0.0, function(0), end, function(end), 0.0);
  }

  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(answer); }

  [[nodiscard]] bool correct() const {
    const double square = static_cast<double>(n) * static_cast<double>(n);
    const double exact = square * (square + 2) / 4;
    return std::abs(answer - exact) <= 1e-6 * exact;
  }

  // By halving the intervals once more.
  [[nodiscard]] std::size_t fork_depth() const {
    return whole([](auto... interval) { return fork_depth(interval...); });
  }

  std::size_t n;
  double answer = 0;

 private:
  static std::size_t fork_depth(double x1, double y1, double x2, double y2, double area);
};

// One step: the middle of an interval, the areas of its halves, and whether they are close enough to be the answer.
struct halves {
  double x, y;  // the middle and the function there
  double left, right;
  bool close;

  halves(double x1, double y1, double x2, double y2, double area) {
    const double half = (x2 - x1) / 2;
    x = x1 + half;
    y = integrate_problem::function(x);
    left = (y1 + y) / 2 * half;
    right = (y + y2) / 2 * half;
    close = std::abs(left + right - area) < integrate_problem::epsilon;
  }
};

inline std::size_t integrate_problem::fork_depth(double x1, double y1, double x2, double y2, double area) {
  const halves at{x1, y1, x2, y2, area};
  return at.close ? 0 : 1 + std::max(fork_depth(x1, y1, at.x, at.y, at.left), fork_depth(at.x, at.y, x2, y2, at.right));
}

}  // namespace bench

#pragma once

// integrate: ∫ (x² + 1)x dx over [0, n] by the trapezoid rule, halving an interval until its two halves agree with the
// whole to ε. A binary tree like fib's, with a little arithmetic in every node and a shape that depends on it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "../../harness.hpp"

namespace bench {

struct interval {
  double x1, y1;  // the left end and the function there
  double x2, y2;  // the right end and the function there
  double area;    // by one trapezoid
};

struct integrate_problem {
  static constexpr const char* name = "integrate";
  static constexpr double epsilon = 1e-9;

  explicit integrate_problem(const options& opts) : n{pick(opts, {.smoke = 8, .standard = 300, .paper = 10'000})} {}

  static double function(double x) { return (x * x + 1) * x; }

  [[nodiscard]] interval whole() const {
    const double end = static_cast<double>(n);
    return {.x1 = 0, .y1 = function(0), .x2 = end, .y2 = function(end), .area = 0};
  }

  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(answer); }

  [[nodiscard]] bool correct() const {
    const double square = static_cast<double>(n) * static_cast<double>(n);
    const double exact = square * (square + 2) / 4;
    return std::abs(answer - exact) <= 1e-6 * exact;
  }

  // By halving the intervals once more.
  [[nodiscard]] std::size_t fork_depth() const { return fork_depth(whole()); }

  std::size_t n;
  double answer = 0;

 private:
  static std::size_t fork_depth(const interval& whole);
};

// One step: the two halves of an interval, and whether they are close enough to be the answer.
struct halves {
  interval left, right;
  bool close;

  explicit halves(const interval& whole) {
    const double half = (whole.x2 - whole.x1) / 2;
    const double middle = whole.x1 + half;
    const double height = integrate_problem::function(middle);
    left = {whole.x1, whole.y1, middle, height, (whole.y1 + height) / 2 * half};
    right = {middle, height, whole.x2, whole.y2, (height + whole.y2) / 2 * half};
    close = std::abs(left.area + right.area - whole.area) < integrate_problem::epsilon;
  }
};

inline std::size_t integrate_problem::fork_depth(const interval& whole) {
  const halves half{whole};
  return half.close ? 0 : 1 + std::max(fork_depth(half.left), fork_depth(half.right));
}

}  // namespace bench

#pragma once

// heat: Jacobi's method for heat on a square plate with cold edges, n × n points. One step after another, each over strips of at
// most ten rows: a join for every step, and little work between two of them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "../harness.hpp"

namespace bench {

struct heat_problem {
  static constexpr const char* name = "heat";
  static constexpr std::size_t strip = 10;  // rows
  static constexpr double flow = 0.2;       // from a point to each neighbour in one step; stable up to 1/4

  // As many steps for each row as the paper's 500 for 2048.
  explicit heat_problem(const options& opts)
      : n{pick(opts, {.smoke = 256, .standard = 1536, .paper = 2048})}, steps{(500 * n + 2047) / 2048}, now_(n * n), next_(n * n) {}

  // The rows that change.
  [[nodiscard]] static std::size_t first_row() { return 1; }
  [[nodiscard]] std::size_t last_row() const { return n < 2 ? 1 : n - 1; }

  // One step of the rows in [first, last).
  void step(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const double* const above = now_.data() + (i - 1) * n;
      const double* const here = above + n;
      const double* const below = here + n;
      double* const to = next_.data() + i * n;
      for (std::size_t j = 1; j + 1 < n; ++j) to[j] = here[j] + flow * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
    }
  }
  // Once all rows have made their step.
  void next() { std::swap(now_, next_); }

  void reset() {
    const sine_wave slow = slow_wave(0);
    const sine_wave fast = fast_wave(0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) now_[i * n + j] = next_[i * n + j] = slow.at(i, j) + fast.at(i, j);
  }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return "error " + std::to_string(error() * 1e15) + "e-15"; }

  // Every point against the solution of the difference equations: a wave keeps its shape and shrinks by the same factor in every
  // step. What remains is rounding, some 2⁻⁵³ a step; a point that misses a single step is off by 10⁻⁶ and more.
  [[nodiscard]] bool correct() const { return error() < 1e-12; }

  // The rows are halved down to strips.
  [[nodiscard]] std::size_t fork_depth() const {
    std::size_t depth = 0;
    for (std::size_t rows = last_row() - first_row(); rows > strip; rows -= rows / 2) ++depth;
    return depth;
  }

  std::size_t n;
  std::size_t steps;

 private:
  class sine_wave {
   public:
    sine_wave(std::size_t n, double p, double q, std::size_t steps) : row_(n), column_(n) {
      const double unit = std::numbers::pi / static_cast<double>(n > 1 ? n - 1 : 1);
      const auto square = [](double x) { return x * x; };
      const double factor = 1 - 4 * flow * (square(std::sin(p * unit / 2)) + square(std::sin(q * unit / 2)));
      for (std::size_t i = 0; i < n; ++i) {
        const bool edge = i == 0 || i + 1 == n;
        row_[i] = edge ? 0 : std::sin(p * unit * static_cast<double>(i)) * std::pow(factor, static_cast<double>(steps));
        column_[i] = edge ? 0 : std::sin(q * unit * static_cast<double>(i));
      }
    }
    [[nodiscard]] double at(std::size_t i, std::size_t j) const { return row_[i] * column_[j]; }

   private:
    std::vector<double> row_, column_;
  };

  [[nodiscard]] sine_wave slow_wave(std::size_t step) const { return {n, 1, 2, step}; }
  [[nodiscard]] sine_wave fast_wave(std::size_t step) const { return {n, 9, 5, step}; }

  [[nodiscard]] double error() const {
    const sine_wave slow = slow_wave(steps);
    const sine_wave fast = fast_wave(steps);
    double most = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const double off = std::abs(now_[i * n + j] - slow.at(i, j) - fast.at(i, j));
        if (std::isnan(off)) return off;
        most = std::max(most, off);
      }
    return most;
  }

  std::vector<double> now_, next_;
};

}  // namespace bench

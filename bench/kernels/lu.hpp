#pragma once

// lu: A = L·U in place, without pivoting, by halving: factor the first quarter, solve for the two beside and below it, which are
// independent, subtract their product from the last and factor that. Down to one tile.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../harness.hpp"
#include "tiled_matrix.hpp"

namespace bench {

struct lu_problem {
  static constexpr const char* name = "lu";
  static constexpr std::size_t side = 16;  // of a tile
  using part = tiles<double, side>;

  explicit lu_problem(const options& opts) : n{pick(opts, {.smoke = 512, .standard = 2048, .paper = 4096})}, m{valid(n), n} {}

  // The matrix, made again each time: between −1 and 1, except the diagonal, which is large enough that it needs no pivots.
  [[nodiscard]] double element(std::size_t i, std::size_t j) const {
    std::uint64_t h = (i * n + j + 1) * 0x9E3779B97F4A7C15;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93;
    const double small = static_cast<double>(h >> 11) * 0x1p-52 - 1;
    return i == j ? 4 * std::sqrt(static_cast<double>(n)) + small : small;
  }

  [[nodiscard]] std::string size() const { return std::to_string(n); }
  void reset() {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) m(i, j) = element(i, j);
  }

  // ‖Av − L(Uv)‖ for a v without zeros. The work on one tile contributes to each of its elements in the order of 1/√n; the rounding of a
  // sum of n elements is in the order of n·2⁻⁵³.
  [[nodiscard]] bool correct() const { return residual() < 1e-8; }
  [[nodiscard]] std::string answer_text() const { return "residual " + std::to_string(residual() * 1e12) + "e-12"; }

  // A product of k levels nests 3k forks: four quarters at each. A solve of k levels forks once and then needs a product of k − 1; a
  // factorisation forks once for its solves, of k − 1 levels, and then needs a product of k − 1, which nests the most.
  [[nodiscard]] std::size_t fork_depth() const {
    const auto levels = static_cast<std::size_t>(std::countr_zero(n / side));
    return levels == 0 ? 0 : levels == 1 ? 1 : 3 * (levels - 1);
  }

  std::size_t n;
  tiled_matrix<double, side> m;

 private:
  static std::size_t valid(std::size_t n) {
    if (n < side || !std::has_single_bit(n)) throw std::invalid_argument{"lu: --size is a power of two, at least " + std::to_string(side)};
    return n;
  }

  [[nodiscard]] double residual() const {
    std::vector<double> v(n);
    for (std::size_t j = 0; j < n; ++j) v[j] = (j % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(j * 37 % 64) / 64);
    std::vector<double> u(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j) u[i] += m(i, j) * v[j];
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double by_factors = u[i];
      for (std::size_t j = 0; j < i; ++j) by_factors += m(i, j) * u[j];
      double by_matrix = 0;
      for (std::size_t j = 0; j < n; ++j) by_matrix += element(i, j) * v[j];
      const double off = std::abs(by_matrix - by_factors);
      if (std::isnan(off)) return off;
      most = std::max(most, off);
    }
    return most;
  }
};

// The quarters of a square of tiles.
struct lu_quarters {
  lu_problem::part m00, m01, m10, m11;

  explicit lu_quarters(const lu_problem::part& m) : lu_quarters{m, m.rows / 2} {}

 private:
  lu_quarters(const lu_problem::part& m, std::size_t h)
      : m00{m.part(0, 0, h, h)}, m01{m.part(0, h, h, h)}, m10{m.part(h, 0, h, h)}, m11{m.part(h, h, h, h)} {}
};

// The leaves, each on single tiles.

inline void factor_tile(double* m) {
  constexpr std::size_t side = lu_problem::side;
  for (std::size_t k = 0; k < side; ++k)
    for (std::size_t i = k + 1; i < side; ++i) {
      const double factor = m[i * side + k] /= m[k * side + k];
      for (std::size_t j = k + 1; j < side; ++j) m[i * side + j] -= factor * m[k * side + j];
    }
}

// m = L⁻¹·m with the unit lower triangle of l.
inline void solve_lower_tile(double* m, const double* l) {
  constexpr std::size_t side = lu_problem::side;
  for (std::size_t i = 1; i < side; ++i)
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t j = 0; j < side; ++j) m[i * side + j] -= l[i * side + k] * m[k * side + j];
}

// m = m·U⁻¹ with the upper triangle of u.
inline void solve_upper_tile(double* m, const double* u) {
  constexpr std::size_t side = lu_problem::side;
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t k = 0; k < side; ++k) {
      const double solved = m[i * side + k] /= u[k * side + k];
      for (std::size_t j = k + 1; j < side; ++j) m[i * side + j] -= solved * u[k * side + j];
    }
}

// m −= x·y.
inline void subtract_tile(double* m, const double* x, const double* y) { multiply_tile<into::subtract, lu_problem::side>(x, y, m); }

}  // namespace bench

#pragma once

// cholesky: A = L·Lᵀ of a sparse matrix that is kept as a quadtree: a quarter without non-zeros is a null pointer, and blocks of
// 4 × 4 are the leaves. L takes the place of A's lower triangle; quarters that fill up are allocated as they do.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../harness.hpp"

namespace bench {

// A square of side 4·2^depth: a block where the depth is 0, else four quarters.
struct quadtree {};

struct block : quadtree {
  static constexpr std::size_t side = 4;
  std::array<double, side * side> value{};
};

struct quarters : quadtree {
  std::array<quadtree*, 4> at{};  // row by row
};

inline block& as_block(quadtree* m) { return *static_cast<block*>(m); }
inline quarters& as_quarters(quadtree* m) { return *static_cast<quarters*>(m); }

inline quadtree* make_quadtree(std::size_t depth) {
  if (depth == 0) return new block;
  return new quarters;
}

inline void free_quadtree(quadtree* m, std::size_t depth) {
  if (m == nullptr) return;
  if (depth == 0) {
    delete &as_block(m);
    return;
  }
  for (quadtree* const quarter : as_quarters(m).at) free_quadtree(quarter, depth - 1);
  delete &as_quarters(m);
}

// The leaves.

// Factors the lower triangle; the part above it has no meaning from then on.
inline void factor_block(block& m) {
  constexpr std::size_t side = block::side;
  auto& v = m.value;
  for (std::size_t j = 0; j < side; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = j; i < side; ++i) v[i * side + j] -= v[i * side + k] * v[j * side + k];
    v[j * side + j] = std::sqrt(v[j * side + j]);
    for (std::size_t i = j + 1; i < side; ++i) v[i * side + j] /= v[j * side + j];
  }
}

// m = m·L⁻ᵀ.
inline void solve_block(block& m, const block& l) {
  constexpr std::size_t side = block::side;
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) {
      double sum = m.value[i * side + j];
      for (std::size_t k = 0; k < j; ++k) sum -= m.value[i * side + k] * l.value[j * side + k];
      m.value[i * side + j] = sum / l.value[j * side + j];
    }
}

// m −= x·yᵀ.
inline void subtract_block(block& m, const block& x, const block& y) {
  constexpr std::size_t side = block::side;
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < side; ++k) sum += x.value[i * side + k] * y.value[j * side + k];
      m.value[i * side + j] -= sum;
    }
}

struct cholesky_problem {
  static constexpr const char* name = "cholesky";
  static constexpr std::size_t non_zeros_in_a_row = 10;

  // About half of the non-zeros off the diagonal are on either side of 0, and the diagonal is the row's sum of their sizes by 0.6:
  // not so much that what fills in would be negligible, and enough for a matrix of random signs to be positive definite.
  explicit cholesky_problem(const options& opts)
      : n{valid(pick(opts, {.smoke = 400, .standard = 2000, .paper = 4000}))},
        depth{static_cast<std::size_t>(std::countr_zero(std::bit_ceil(n / block::side)))} {
    std::vector<double> sum(n, 1 / 0.6);
    std::uint64_t state = 1;
    const auto below = [&](std::uint64_t limit) {
      state = state * 6364136223846793005 + 1442695040888963407;
      return (state >> 33) % limit;
    };
    while (elements.size() < (non_zeros_in_a_row - 1) * n) {
      const std::size_t i = below(n);
      const std::size_t j = below(n);
      if (j >= i) continue;
      const double size = 0.5 + static_cast<double>(below(1024)) / 2048;
      elements.push_back({i, j, below(2) == 0 ? size : -size});
      sum[i] += size;
      sum[j] += size;
    }
    for (std::size_t i = 0; i < n; ++i) elements.push_back({i, i, 0.6 * sum[i]});
  }
  cholesky_problem(const cholesky_problem&) = delete;
  cholesky_problem& operator=(const cholesky_problem&) = delete;
  ~cholesky_problem() { free_quadtree(root, depth); }

  void reset() {
    free_quadtree(std::exchange(root, nullptr), depth);
    for (const element& e : elements) {
      quadtree** at = &root;
      for (std::size_t level = depth;; --level) {
        if (*at == nullptr) *at = make_quadtree(level);
        if (level == 0) break;
        const std::size_t bit = block::side << (level - 1);
        at = &as_quarters(*at).at[((e.i & bit) != 0 ? 2U : 0U) + ((e.j & bit) != 0 ? 1U : 0U)];
      }
      as_block(*at).value[e.i % block::side * block::side + e.j % block::side] += e.value;
    }
  }

  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return "residual " + std::to_string(residual() * 1e12) + "e-12"; }

  // ‖Av − L(Lᵀv)‖ for a v without zeros. The elements of A and L are of the order of 1 to 10.
  [[nodiscard]] bool correct() const { return residual() < 1e-9; }

  // In a tree without null pointers, which a sparse one comes near to as it fills up: a product of k levels nests 3k forks; one
  // where only the lower triangle is needed has three parts, of which the second is whole; the solve and the factorisation nest
  // less than the products in them and one fork.
  [[nodiscard]] std::size_t fork_depth() const {
    const auto solve = [](std::size_t k) { return k == 0 ? 0 : 1 + 3 * (k - 1); };
    std::size_t lower = 0;
    std::size_t most = 0;
    for (std::size_t k = 1; k <= depth; ++k) {
      most = std::max({most, solve(k - 1), lower});
      lower = 2 + std::max(3 * (k - 1), lower);
    }
    return most;
  }

  std::size_t n;
  std::size_t depth;
  quadtree* root = nullptr;

 private:
  struct element {
    std::size_t i, j;
    double value;
  };

  static std::size_t valid(std::size_t n) {
    if (n % block::side != 0) throw std::invalid_argument{"cholesky: --size is a multiple of " + std::to_string(block::side)};
    return n;
  }

  // Calls f(i, j, value) for each element of the lower triangle.
  template <class F>
  static void for_lower(const quadtree* m, std::size_t level, std::size_t row, std::size_t column, const F& f) {
    if (m == nullptr) return;
    if (level == 0) {
      for (std::size_t i = 0; i < block::side; ++i)
        for (std::size_t j = 0; j < block::side; ++j)
          if (column + j <= row + i) f(row + i, column + j, static_cast<const block*>(m)->value[i * block::side + j]);
      return;
    }
    const std::size_t half = block::side << (level - 1);
    for (std::size_t q = 0; q < 4; ++q)
      for_lower(static_cast<const quarters*>(m)->at[q], level - 1, row + q / 2 * half, column + q % 2 * half, f);
  }

  [[nodiscard]] double residual() const {
    const std::size_t padded = block::side << depth;
    std::vector<double> v(padded);
    std::vector<double> half(padded);
    std::vector<double> difference(padded);
    for (std::size_t i = 0; i < n; ++i) v[i] = (i % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(i * 37 % 64) / 64);
    for (const element& e : elements) {
      difference[e.i] += e.value * v[e.j];
      if (e.i != e.j) difference[e.j] += e.value * v[e.i];
    }
    for_lower(root, depth, 0, 0, [&](std::size_t i, std::size_t j, double l) { half[j] += l * v[i]; });
    for_lower(root, depth, 0, 0, [&](std::size_t i, std::size_t j, double l) { difference[i] -= l * half[j]; });
    double most = 0;
    for (const double off : difference) {
      if (std::isnan(off)) return off;
      most = std::max(most, std::abs(off));
    }
    return most;
  }

  std::vector<element> elements;  // of the lower triangle
};

}  // namespace bench

#pragma once

// matmul: C += A·B, halving rows, columns and the inner dimension down to one tile. The two halves of the inner
// dimension write the same tiles of C, so they follow one another; within each, four quarters are independent.

#include <array>
#include <bit>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "../harness.hpp"
#include "tiled_matrix.hpp"

namespace bench {

// A cube of the iteration space, in tiles.
struct cube {
  std::size_t row, column, inner, size;

  // Two steps, one for each half of the inner dimension, of four parts that write different quarters of C.
  [[nodiscard]] std::array<std::array<cube, 4>, 2> steps() const {
    const std::size_t h = size / 2;
    const auto quarters = [&](std::size_t k) {
      return std::array<cube, 4>{{{row, column, k, h}, {row, column + h, k, h}, {row + h, column, k, h}, {row + h, column + h, k, h}}};
    };
    return {quarters(inner), quarters(inner + h)};
  }
};

struct matmul_problem {
  static constexpr const char* name = "matmul";
  static constexpr std::size_t side = 32;  // of a tile: three of them fit the first-level cache
  using matrix = tiled_matrix<float, side>;

  explicit matmul_problem(const options& opts)
      : n{pick(opts, {.smoke = 128, .standard = 2048, .paper = 8192})}, a{valid(n), n}, b{n, n}, c{n, n} {
    fill_with_small_numbers(a, 1);
    fill_with_small_numbers(b, 2);
  }

  [[nodiscard]] cube whole() const { return {0, 0, 0, n / side}; }
  void reset() { c.clear(); }

  // The leaf: one tile of C += one of A times one of B.
  void multiply(const cube& at) {
    multiply_tile<into::add, side>(a.tile(at.row, at.inner), b.tile(at.inner, at.column), c.tile(at.row, at.column));
  }

  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] bool correct() const { return is_product(c, a, b); }
  [[nodiscard]] std::string answer_text() const { return checksum(c); }

  // Four quarters at each level: three forks.
  [[nodiscard]] std::size_t fork_depth() const { return 3 * static_cast<std::size_t>(std::countr_zero(n / side)); }

  std::size_t n;
  matrix a, b, c;

 private:
  static std::size_t valid(std::size_t n) {
    if (n < side || !std::has_single_bit(n))
      throw std::invalid_argument{"matmul: --size is a power of two, at least " + std::to_string(side)};
    return n;
  }
};

}  // namespace bench

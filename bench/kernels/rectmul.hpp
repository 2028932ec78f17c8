#pragma once

// rectmul: C = A·B for matrices of any shape, always halving the longest of rows, columns and inner dimension, down to one tile. The two
// halves of the inner dimension run at once too: the second writes a matrix of its own, which is added in the end. So this product
// allocates memory while it runs.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "../harness.hpp"
#include "tiled_matrix.hpp"

namespace bench {

struct rectmul_problem {
  static constexpr const char* name = "rectmul";
  static constexpr std::size_t side = 16;  // of a tile
  using matrix = tiled_matrix<double, side>;
  using part = tiles<double, side>;

  explicit rectmul_problem(const options& opts)
      : n{pick(opts, {.smoke = 304, .standard = 2048, .paper = 4096})}, a{valid(n), n}, b{n, n}, c{n, n} {
    fill_with_small_numbers(a, 1);
    fill_with_small_numbers(b, 2);
  }

  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] bool correct() const { return is_product(c, a, b); }
  [[nodiscard]] std::string answer_text() const { return checksum(c); }
  void reset() { c.clear(); }

  // Each of the three dimensions is halved down to one tile, one fork for each halving.
  [[nodiscard]] std::size_t fork_depth() const {
    std::size_t halvings = 0;
    for (std::size_t longest = n / side; longest > 1; longest -= longest / 2) ++halvings;
    return 3 * halvings;
  }

  std::size_t n;
  matrix a, b, c;

 private:
  static std::size_t valid(std::size_t n) {
    if (n % side != 0) throw std::invalid_argument{"rectmul: --size is a multiple of " + std::to_string(side)};
    return n;
  }
};

// One product of the recursion. `first` writes C; `second` writes another part of C or, if the inner dimension was halved, `apart`, which
// add() then adds to C.
struct rectangle {
  using part = rectmul_problem::part;

  part a, b, c;

  [[nodiscard]] bool is_leaf() const { return a.rows == 1 && a.columns == 1 && b.columns == 1; }
  void multiply() const { multiply_tile<into::set, rectmul_problem::side>(a.first, b.first, c.first); }
};

class rectangle_halves {
 public:
  explicit rectangle_halves(const rectangle& whole) : first{whole}, second{whole}, c_{whole.c} {
    auto [a, b, c] = whole;
    if (a.rows >= a.columns && a.rows >= b.columns) {
      const std::size_t h = a.rows / 2;
      first = {a.part(0, 0, h, a.columns), b, c.part(0, 0, h, c.columns)};
      second = {a.part(h, 0, a.rows - h, a.columns), b, c.part(h, 0, a.rows - h, c.columns)};
    } else if (b.columns >= a.columns) {
      const std::size_t h = b.columns / 2;
      first = {a, b.part(0, 0, b.rows, h), c.part(0, 0, c.rows, h)};
      second = {a, b.part(0, h, b.rows, b.columns - h), c.part(0, h, c.rows, b.columns - h)};
    } else {
      const std::size_t h = a.columns / 2;
      apart_ = std::make_unique_for_overwrite<double[]>(c.rows * c.columns * rectmul_problem::side * rectmul_problem::side);
      first = {a.part(0, 0, a.rows, h), b.part(0, 0, h, b.columns), c};
      second = {a.part(0, h, a.rows, a.columns - h),
                b.part(h, 0, b.rows - h, b.columns),
                {.first = apart_.get(), .pitch = c.columns, .rows = c.rows, .columns = c.columns}};
    }
  }

  // Once both are done.
  void add() const {
    if (!apart_) return;
    const std::size_t row = c_.columns * rectmul_problem::side * rectmul_problem::side;
    for (std::size_t i = 0; i < c_.rows; ++i) {
      double* const to = c_.tile(i, 0);
      const double* const from = second.c.tile(i, 0);
      for (std::size_t k = 0; k < row; ++k) to[k] += from[k];
    }
  }

  rectangle first, second;

 private:
  rectangle::part c_;
  std::unique_ptr<double[]> apart_;
};

inline rectangle whole(rectmul_problem& problem) { return {all_tiles(problem.a), all_tiles(problem.b), all_tiles(problem.c)}; }

}  // namespace bench

#pragma once

// strassen: C = A·B with seven products of quarters instead of eight (Winograd's form, fifteen additions), down to one tile. The factors of
// the products are summed tile row by tile row, and so are the products.

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "../harness.hpp"
#include "tiled_matrix.hpp"

namespace bench {

struct strassen_problem {
  static constexpr const char* name = "strassen";
  static constexpr std::size_t side = 64;  // of a tile
  using matrix = tiled_matrix<double, side>;
  using part = tiles<double, side>;

  explicit strassen_problem(const options& opts)
      : n{pick(opts, {.smoke = 256, .standard = 2048, .paper = 4096})}, a{valid(n), n}, b{n, n}, c{n, n} {
    fill_with_small_numbers(a, 1);
    fill_with_small_numbers(b, 2);
  }

  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] bool correct() const { return is_product(c, a, b); }
  [[nodiscard]] std::string answer_text() const { return checksum(c); }
  void reset() { c.clear(); }

  // Seven products at each level: six forks.
  [[nodiscard]] std::size_t fork_depth() const { return 6 * static_cast<std::size_t>(std::countr_zero(n / side)); }

  std::size_t n;
  matrix a, b, c;

 private:
  static std::size_t valid(std::size_t n) {
    if (n < side || !std::has_single_bit(n))
      throw std::invalid_argument{"strassen: --size is a power of two, at least " + std::to_string(side)};
    return n;
  }
};

// One product of the recursion.
struct square {
  using part = strassen_problem::part;

  part a, b, c;

  [[nodiscard]] bool is_leaf() const { return a.rows == 1; }
  void multiply() const { multiply_tile<into::set, strassen_problem::side>(a.first, b.first, c.first); }
};

// The seven products of one level with the memory for their factors. Four of them are formed in C itself.
class seven_products {
 public:
  explicit seven_products(const square& at)
      : height{at.a.rows / 2},
        a_{quarters(at.a)},
        b_{quarters(at.b)},
        c_{quarters(at.c)},
        memory_{std::make_unique_for_overwrite<double[]>(11 * height * height * tile)},
        s_{own(0), own(1), own(2), own(3)},
        t_{own(4), own(5), own(6), own(7)},
        products{{{a_[0], b_[0], own(8)},
                  {a_[1], b_[2], c_[0]},
                  {s_[3], b_[3], c_[1]},
                  {a_[3], t_[3], c_[2]},
                  {s_[0], t_[0], c_[3]},
                  {s_[1], t_[1], own(9)},
                  {s_[2], t_[2], own(10)}}} {}

  // One row of tiles of all the factors; before the products.
  void form_factors(std::size_t row) const {
    const auto a = rows(a_, row);
    const auto b = rows(b_, row);
    const auto s = rows(s_, row);
    const auto t = rows(t_, row);
    for (std::size_t i = 0; i < height * tile; ++i) {
      const double s1 = a[2][i] + a[3][i];
      const double s2 = s1 - a[0][i];
      s[0][i] = s1;
      s[1][i] = s2;
      s[2][i] = a[0][i] - a[2][i];
      s[3][i] = a[1][i] - s2;
      const double t1 = b[1][i] - b[0][i];
      const double t2 = b[3][i] - t1;
      t[0][i] = t1;
      t[1][i] = t2;
      t[2][i] = b[3][i] - b[1][i];
      t[3][i] = t2 - b[2][i];
    }
  }

  // One row of tiles of C; after the products.
  void add_products(std::size_t row) const {
    const auto c = rows(c_, row);
    const double* const p1 = products[0].c.tile(row, 0);
    const double* const p6 = products[5].c.tile(row, 0);
    const double* const p7 = products[6].c.tile(row, 0);
    for (std::size_t i = 0; i < height * tile; ++i) {
      const double p3 = c[1][i];
      const double p4 = c[2][i];
      const double p5 = c[3][i];
      const double u2 = p1[i] + p6[i];
      const double u3 = u2 + p7[i];
      c[0][i] += p1[i];
      c[1][i] = u2 + p5 + p3;
      c[2][i] = u3 - p4;
      c[3][i] = u3 + p5;
    }
  }

  std::size_t height;  // of a quarter, in tiles

 private:
  using four = std::array<square::part, 4>;
  static constexpr std::size_t tile = strassen_problem::side * strassen_problem::side;  // elements

  [[nodiscard]] four quarters(const square::part& m) const {
    const std::size_t h = height;
    return {m.part(0, 0, h, h), m.part(0, h, h, h), m.part(h, 0, h, h), m.part(h, h, h, h)};
  }
  [[nodiscard]] square::part own(std::size_t i) const {
    return {.first = memory_.get() + i * height * height * tile, .pitch = height, .rows = height, .columns = height};
  }
  static std::array<double*, 4> rows(const four& parts, std::size_t row) {
    return {parts[0].tile(row, 0), parts[1].tile(row, 0), parts[2].tile(row, 0), parts[3].tile(row, 0)};
  }

  four a_, b_, c_;
  std::unique_ptr<double[]> memory_;
  four s_, t_;

 public:
  std::array<square, 7> products;
};

inline square whole(strassen_problem& problem) { return {all_tiles(problem.a), all_tiles(problem.b), all_tiles(problem.c)}; }

}  // namespace bench

#pragma once

// matmul: C += A·B, halving rows, columns and the inner dimension down to one tile. The two halves of the inner
// dimension write the same tiles of C, so they follow one another; within each, four quarters are independent.

#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../harness.hpp"

namespace bench {

// A square matrix that keeps each tile in one piece, so that a leaf's speed does not depend on the matrix's size.
class tiled_matrix {
 public:
  static constexpr std::size_t side = 32;  // of a tile: three of them fit the first-level cache

  explicit tiled_matrix(std::size_t n) : n_{n}, elements_(n * n) {}

  [[nodiscard]] std::size_t n() const { return n_; }
  [[nodiscard]] float* tile(std::size_t row, std::size_t column) {
    return elements_.data() + (row * (n_ / side) + column) * side * side;
  }
  [[nodiscard]] float operator()(std::size_t i, std::size_t j) const { return elements_[index(i, j)]; }
  [[nodiscard]] float& operator()(std::size_t i, std::size_t j) { return elements_[index(i, j)]; }
  void clear() { elements_.assign(elements_.size(), 0); }

 private:
  [[nodiscard]] std::size_t index(std::size_t i, std::size_t j) const {
    const std::size_t tile = i / side * (n_ / side) + j / side;
    return tile * side * side + i % side * side + j % side;
  }

  std::size_t n_;
  std::vector<float> elements_;
};

// A cube of the iteration space, in tiles.
struct cube {
  std::size_t row, column, inner, size;

  // Two steps, one for each half of the inner dimension, of four parts that write different quarters of C.
  [[nodiscard]] std::array<std::array<cube, 4>, 2> steps() const {
    const std::size_t h = size / 2;
    const auto quarters = [&](std::size_t k) {
      return std::array<cube, 4>{
          {{row, column, k, h}, {row, column + h, k, h}, {row + h, column, k, h}, {row + h, column + h, k, h}}};
    };
    return {quarters(inner), quarters(inner + h)};
  }
};

// The matrices' elements are small whole numbers: every sum is exact in a float, in any order, and so is the check.
struct matmul_problem {
  static constexpr const char* name = "matmul";

  explicit matmul_problem(const options& opts)
      : n{pick(opts, {.smoke = 128, .standard = 2048, .paper = 8192})}, a{valid(n)}, b{n}, c{n} {
    std::uint32_t state = 1;
    for (tiled_matrix* matrix : {&a, &b})
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          state = state * 1664525 + 1013904223;
          (*matrix)(i, j) = static_cast<float>(state >> 30);
        }
  }

  [[nodiscard]] cube whole() const { return {0, 0, 0, n / tiled_matrix::side}; }
  void reset() { c.clear(); }

  // The leaf: one tile of C += one of A times one of B.
  void multiply(const cube& at) {
    constexpr std::size_t side = tiled_matrix::side;
    const float* const x = a.tile(at.row, at.inner);
    const float* const y = b.tile(at.inner, at.column);
    float* const z = c.tile(at.row, at.column);
    for (std::size_t i = 0; i < side; ++i) {
      float sum[side];
      for (std::size_t j = 0; j < side; ++j) sum[j] = z[i * side + j];
      for (std::size_t k = 0; k < side; ++k)
        for (std::size_t j = 0; j < side; ++j) sum[j] += x[i * side + k] * y[k * side + j];
      for (std::size_t j = 0; j < side; ++j) z[i * side + j] = sum[j];
    }
  }

  [[nodiscard]] std::string size() const { return std::to_string(n); }

  // C·v for a vector of small whole numbers, against A·(B·v): n² work, and no wrong tile passes.
  [[nodiscard]] bool correct() const {
    const std::vector<std::int64_t> v = probe();
    return times(c, v) == times(a, times(b, v));
  }

  [[nodiscard]] std::string answer_text() const {
    std::int64_t sum = 0;
    for (std::int64_t element : times(c, probe())) sum += element;
    return std::to_string(sum);
  }

  std::size_t n;
  tiled_matrix a, b, c;

 private:
  static std::size_t valid(std::size_t n) {
    if (n < tiled_matrix::side || !std::has_single_bit(n))
      throw std::invalid_argument{"matmul: --size is a power of two, at least " + std::to_string(tiled_matrix::side)};
    return n;
  }

  [[nodiscard]] std::vector<std::int64_t> probe() const {
    std::vector<std::int64_t> v(n);
    std::uint32_t state = 7;
    for (auto& element : v) {
      state = state * 1664525 + 1013904223;
      element = 1 + (state >> 24);
    }
    return v;
  }

  static std::vector<std::int64_t> times(const tiled_matrix& m, const std::vector<std::int64_t>& v) {
    std::vector<std::int64_t> result(v.size());
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t j = 0; j < v.size(); ++j) result[i] += static_cast<std::int64_t>(m(i, j)) * v[j];
    return result;
  }
};

}  // namespace bench

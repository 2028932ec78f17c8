#pragma once

// Shared by matmul, rectmul, strassen and lu: matrices stored tile by tile, the leaf that multiplies two tiles, and a product's check.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

// A matrix that stores each tile in one piece, so that a leaf's speed does not depend on the matrix's size.
template <class T, std::size_t Side>
class tiled_matrix {
 public:
  static constexpr std::size_t side = Side;  // of a tile

  tiled_matrix(std::size_t rows, std::size_t columns) : rows_{rows}, columns_{columns}, elements_(rows * columns) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] T* tile(std::size_t row, std::size_t column) { return elements_.data() + (row * (columns_ / side) + column) * side * side; }
  [[nodiscard]] T operator()(std::size_t i, std::size_t j) const { return elements_[index(i, j)]; }
  [[nodiscard]] T& operator()(std::size_t i, std::size_t j) { return elements_[index(i, j)]; }
  void clear() { elements_.assign(elements_.size(), 0); }

 private:
  [[nodiscard]] std::size_t index(std::size_t i, std::size_t j) const {
    const std::size_t tile = i / side * (columns_ / side) + j / side;
    return tile * side * side + i % side * side + j % side;
  }

  std::size_t rows_;
  std::size_t columns_;
  std::vector<T> elements_;
};

// A rectangle of tiles within a tiled matrix, which owns them.
template <class T, std::size_t Side>
struct tiles {
  static constexpr std::size_t side = Side;

  T* first;
  std::size_t pitch;  // tiles from one row of them to the next
  std::size_t rows;   // in tiles, as the next
  std::size_t columns;

  [[nodiscard]] T* tile(std::size_t row, std::size_t column) const { return first + (row * pitch + column) * side * side; }
  [[nodiscard]] tiles part(std::size_t row, std::size_t column, std::size_t height, std::size_t width) const {
    return {tile(row, column), pitch, height, width};
  }
};

template <class T, std::size_t Side>
tiles<T, Side> all_tiles(tiled_matrix<T, Side>& m) {
  return {m.tile(0, 0), m.columns() / Side, m.rows() / Side, m.columns() / Side};
}

// What is done with a product.
enum class into { set, add, subtract };

// One tile z = x·y, z += x·y or z −= x·y.
template <into How, std::size_t Side, class T>
void multiply_tile(const T* x, const T* y, T* z) {
  for (std::size_t i = 0; i < Side; ++i) {
    T sum[Side];
    for (std::size_t j = 0; j < Side; ++j) sum[j] = How == into::set ? T{0} : z[i * Side + j];
    for (std::size_t k = 0; k < Side; ++k) {
      const T factor = How == into::subtract ? -x[i * Side + k] : x[i * Side + k];
      for (std::size_t j = 0; j < Side; ++j) sum[j] += factor * y[k * Side + j];
    }
    for (std::size_t j = 0; j < Side; ++j) z[i * Side + j] = sum[j];
  }
}

// Elements that are small whole numbers: every sum of a product is exact, in any order, and so is the check.
template <class T, std::size_t Side>
void fill_with_small_numbers(tiled_matrix<T, Side>& m, std::uint32_t state) {
  for (std::size_t i = 0; i < m.rows(); ++i)
    for (std::size_t j = 0; j < m.columns(); ++j) {
      state = state * 1664525 + 1013904223;
      m(i, j) = static_cast<T>(state >> 30);
    }
}

// Whole numbers modulo 2⁶⁴.
using whole_vector = std::vector<std::uint64_t>;

inline whole_vector probe(std::size_t n) {
  whole_vector v(n);
  std::uint32_t state = 7;
  for (auto& element : v) {
    state = state * 1664525 + 1013904223;
    element = 1 + (state >> 24);
  }
  return v;
}

template <class T, std::size_t Side>
whole_vector times(const tiled_matrix<T, Side>& m, const whole_vector& v) {
  whole_vector result(m.rows());
  for (std::size_t i = 0; i < m.rows(); ++i)
    for (std::size_t j = 0; j < m.columns(); ++j) result[i] += static_cast<std::uint64_t>(static_cast<std::int64_t>(m(i, j))) * v[j];
  return result;
}

// C·v for a vector of small whole numbers, against A·(B·v): n² work, and no wrong tile passes.
template <class T, std::size_t Side>
bool is_product(const tiled_matrix<T, Side>& c, const tiled_matrix<T, Side>& a, const tiled_matrix<T, Side>& b) {
  const whole_vector v = probe(b.columns());
  return times(c, v) == times(a, times(b, v));
}

template <class T, std::size_t Side>
std::string checksum(const tiled_matrix<T, Side>& m) {
  std::uint64_t sum = 0;
  for (const std::uint64_t element : times(m, probe(m.columns()))) sum += element;
  return std::to_string(sum);
}

}  // namespace bench

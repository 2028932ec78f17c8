// Multiplies matrices by halves: the four quarters of the result at once; each is two products, one after the other since both add to it.
// From some depth on the pieces fit into every cache, and the program need not know how large a cache is.
// For n × n matrices: work Θ(n³), span Θ(n).

#include <nopal/native.hpp>

#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

constexpr std::size_t order = 256, smallest = 32;

/// A square within a matrix. Its rows are `order` numbers apart.
struct view {
  double* data;
  std::size_t size;
  double& operator()(std::size_t row, std::size_t column) const { return data[row * order + column]; }
  view quarter(std::size_t row, std::size_t column) const { return {&(*this)(row * size / 2, column * size / 2), size / 2}; }
};

/// c += a · b.
void multiply(view a, view b, view c) {
  if (c.size <= smallest) {
    for (std::size_t i = 0; i < c.size; ++i) {
      for (std::size_t k = 0; k < c.size; ++k) {
        for (std::size_t j = 0; j < c.size; ++j) c(i, j) += a(i, k) * b(k, j);
      }
    }
    return;
  }
  nopal::scope quarters;
  for (std::size_t row : {0u, 1u}) {
    for (std::size_t column : {0u, 1u}) {
      quarters.fork([=] {
        multiply(a.quarter(row, 0), b.quarter(0, column), c.quarter(row, column));
        multiply(a.quarter(row, 1), b.quarter(1, column), c.quarter(row, column));
      });
    }
  }
  quarters.join();
}

int main() {
  std::vector<double> a(order * order), b(order * order), c(order * order), serial(order * order);
  std::minstd_rand draw{1};
  for (double& x : a) x = static_cast<double>(draw() % 100);  // whole numbers: their products add up exactly in any order
  for (double& x : b) x = static_cast<double>(draw() % 100);

  multiply({a.data(), order}, {b.data(), order}, {c.data(), order});

  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t k = 0; k < order; ++k) {
      for (std::size_t j = 0; j < order; ++j) serial[i * order + j] += a[i * order + k] * b[k * order + j];
    }
  }
  double trace = 0;
  for (std::size_t i = 0; i < order; ++i) trace += c[i * order + i];
  std::printf("%zu x %zu, trace %.0f\n", order, order, trace);
  return c == serial ? 0 : 1;
}

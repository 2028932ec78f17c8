// Cholesky's decomposition of a symmetric, positive definite matrix into L · Lᵀ, tile by tile: a tile on the diagonal, then all below it at
// once, then all to the right of those at once. Each tile is always written in the same order: the bits do not depend on the workers.
// For n × n numbers in tiles of b × b: work Θ(n³), span Θ(n b²).

#include <nopal/algorithm/parallel_for.hpp>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

constexpr int tile = 16, tiles = 16, order = tile * tiles;

struct matrix {
  std::vector<double> numbers = std::vector<double>(std::size_t{order} * order);
  double& operator()(int row, int column) { return numbers[static_cast<std::size_t>(row * order + column)]; }
};

/// The tile (t, t) becomes its own L.
void decompose(matrix& a, int t) {
  for (int j = t * tile; j < (t + 1) * tile; ++j) {
    for (int k = t * tile; k < j; ++k) {
      for (int i = j; i < (t + 1) * tile; ++i) a(i, j) -= a(i, k) * a(j, k);
    }
    a(j, j) = std::sqrt(a(j, j));
    for (int i = j + 1; i < (t + 1) * tile; ++i) a(i, j) /= a(j, j);
  }
}

/// The tile (row, t) becomes that of L, by the diagonal tile.
void solve(matrix& a, int row, int t) {
  for (int j = t * tile; j < (t + 1) * tile; ++j) {
    for (int i = row * tile; i < (row + 1) * tile; ++i) {
      for (int k = t * tile; k < j; ++k) a(i, j) -= a(i, k) * a(j, k);
      a(i, j) /= a(j, j);
    }
  }
}

/// Subtracts the products of the tiles of column t from the tile (row, column).
void update(matrix& a, int row, int column, int t) {
  for (int i = row * tile; i < (row + 1) * tile; ++i) {
    for (int j = column * tile; j < (column + 1) * tile; ++j) {
      for (int k = t * tile; k < (t + 1) * tile; ++k) a(i, j) -= a(i, k) * a(j, k);
    }
  }
}

void cholesky(matrix& a) {
  for (int t = 0; t < tiles; ++t) {
    decompose(a, t);
    nopal::parallel_for(t + 1, tiles, [&](int row) { solve(a, row, t); });
    nopal::parallel_for(t + 1, tiles, t + 1, tiles, [&](int row, int column) {
      if (column <= row) update(a, row, column, t);
    });
  }
}

int main() {
  matrix a;
  std::minstd_rand draw{4};
  for (int i = 0; i < order; ++i) {
    for (int j = 0; j <= i; ++j) a(i, j) = a(j, i) = static_cast<double>(draw() % 1000) / 1000;
    a(i, i) += order;  // so that it is positive definite
  }

  matrix l = a;
  cholesky(l);

  double worst = 0;
  for (int i = 0; i < order; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = 0;
      for (int k = 0; k <= j; ++k) sum += l(i, k) * l(j, k);
      worst = std::fmax(worst, std::fabs(sum - a(i, j)));
    }
  }
  std::printf("%d x %d: no number of L times its transpose is off by more than %.1e\n", order, order, worst);
  return worst < 1e-10 ? 0 : 1;
}

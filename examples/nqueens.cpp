// Counts the ways to put n queens on a board of n × n so that none attacks another: a task for every placement.
// Work: the number of safe partial placements times n. Span Θ(n²).

#include <nopal/nopal.hpp>

#include <array>
#include <cstddef>
#include <cstdio>

constexpr int size = 10;

/// The columns of the queens in the first rows.
using board = std::array<signed char, size>;

bool is_safe(board const& queens, int row, int column) {
  for (int r = 0; r < row; ++r) {
    int const c = queens[static_cast<std::size_t>(r)];
    if (c == column || c - column == row - r || column - c == row - r) return false;
  }
  return true;
}

nopal::task<long> place(board queens, int row) {
  if (row == size) co_return 1;
  std::array<long, size> ways{};
  for (int column = 0; column < size; ++column) {
    if (!is_safe(queens, row, column)) continue;
    queens[static_cast<std::size_t>(row)] = static_cast<signed char>(column);
    co_await nopal::fork(&ways[static_cast<std::size_t>(column)], place, queens, row + 1);  // copied now: the loop may continue
  }
  co_await nopal::join;
  long sum = 0;
  for (long const w : ways) sum += w;
  co_return sum;
}

int main() {
  nopal::pool pool;
  long const ways = pool.run(place, board{}, 0);
  std::printf("%d queens: %ld ways\n", size, ways);
  return ways == 724 ? 0 : 1;
}

// Conway's Game of Life on a torus. A generation is one loop over the rows: each reads the old board and writes the new one, so that no row
// waits for another.
// For each generation: work Θ(rows · columns), span O(columns + log rows).

#include <nopal/algorithm/parallel_for.hpp>

#include <cstdio>
#include <random>
#include <utility>
#include <vector>

constexpr int rows = 240, columns = 320, generations = 100;
using board = std::vector<unsigned char>;  // row by row: 1 if a cell lives

board::size_type place(int row, int column) {
  return static_cast<board::size_type>((row + rows) % rows * columns + (column + columns) % columns);
}

/// A cell is born of three neighbours, and lives on with two or three.
void next_row(board const& now, board& next, int row) {
  for (int column = 0; column < columns; ++column) {
    int neighbours = -now[place(row, column)];
    for (int r = row - 1; r <= row + 1; ++r) {
      for (int c = column - 1; c <= column + 1; ++c) neighbours += now[place(r, c)];
    }
    next[place(row, column)] = neighbours == 3 || (neighbours == 2 && now[place(row, column)] == 1);
  }
}

board after(int steps, board now) {
  board next(now.size());
  for (int step = 0; step < steps; ++step) {
    nopal::parallel_for(0, rows, [&](int row) { next_row(now, next, row); });
    std::swap(now, next);
  }
  return now;
}

board serial_after(int steps, board now) {
  board next(now.size());
  for (int step = 0; step < steps; ++step) {
    for (int row = 0; row < rows; ++row) next_row(now, next, row);
    std::swap(now, next);
  }
  return now;
}

board glider(int row, int column) {
  board b(board::size_type{rows} * columns);
  for (auto [r, c] : {std::pair{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}}) b[place(row + r, column + c)] = 1;
  return b;
}

int main() {
  // After four generations a glider is one place further along the diagonal: here it crosses the edge.
  if (after(4 * 20, glider(rows - 10, 7)) != glider(10, 27)) return 1;

  board soup(board::size_type{rows} * columns);
  std::minstd_rand draw{3};
  for (auto& cell : soup) cell = draw() % 3 == 0;
  board const end = after(generations, soup);
  long alive = 0;
  for (auto const cell : end) alive += cell;
  std::printf("%d x %d, after %d generations: %ld cells alive\n", rows, columns, generations, alive);
  for (int row = 0; row < 24; ++row) {
    for (int column = 0; column < 64; ++column) std::putchar(end[place(row, column)] == 1 ? '#' : '.');
    std::putchar('\n');
  }
  return end == serial_after(generations, soup) ? 0 : 1;
}

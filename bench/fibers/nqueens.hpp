#pragma once

// nqueens: a fiber for each way to place the queens of the first few rows (--depth), which counts serially the solutions that begin so.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../kernels/nqueens.hpp"

namespace bench {

struct nqueens_by_prefix : nqueens_problem {
  static constexpr const char* name = "fibers_nqueens";

  // The columns that the queens placed so far attack in the next row, by direction: a bit for each column.
  struct prefix {
    std::size_t rows = 0;
    std::uint32_t columns = 0, left = 0, right = 0;
  };

  explicit nqueens_by_prefix(const options& opts) : nqueens_problem{at_full_size(opts)}, depth{opts.depth} {}

  // Calls f for each prefix of `depth` rows, from the left.
  template <class F>
  void each_prefix(F f) {
    pieces = 0;
    each_prefix(prefix{}, f);
  }
  [[nodiscard]] long solutions(const prefix& queens) const {
    if (queens.rows == n) return 1;
    long sum = 0;
    each_next(queens, [&](const prefix& next) { sum += solutions(next); });
    return sum;
  }

  [[nodiscard]] std::size_t fibers() const { return pieces; }
  [[nodiscard]] bool correct() const {
    const bool known = n == 14 && depth >= 1 && depth <= 3;
    return nqueens_problem::correct() && (!known || pieces == std::array<std::size_t, 4>{0, 14, 156, 1364}[depth]);
  }

  std::size_t depth;
  std::size_t pieces = 0;

 private:
  static options at_full_size(options opts) {
    if (opts.size == "default") opts.size = "paper";
    return opts;
  }

  template <class F>
  void each_next(const prefix& queens, F f) const {
    const auto row = (std::uint32_t{1} << n) - 1;
    for (std::uint32_t free = row & ~(queens.columns | queens.left | queens.right); free != 0; free &= free - 1) {
      const std::uint32_t queen = free & (~free + 1);
      f(prefix{queens.rows + 1, queens.columns | queen, (queens.left | queen) << 1, (queens.right | queen) >> 1});
    }
  }
  template <class F>
  void each_prefix(const prefix& queens, F& f) {
    if (queens.rows < depth && queens.rows < n) return each_next(queens, [&](const prefix& next) { each_prefix(next, f); });
    ++pieces;
    f(queens);
  }
};

}  // namespace bench

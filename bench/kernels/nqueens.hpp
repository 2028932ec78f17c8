#pragma once

// nqueens: the number of ways to place n queens on an n × n board. A task for each queen that may be placed; a node waits for up to n
// children, and keeps their answers in an array of its own.

#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "../harness.hpp"

namespace bench {

inline constexpr std::size_t most_queens = 16;

// The answers of one node's children.
using counts = std::array<long, most_queens>;

// Queens on the first rows, one column for each row.
struct board {
  std::size_t size = 0;
  std::size_t rows = 0;
  std::array<std::uint8_t, most_queens> column{};

  [[nodiscard]] bool full() const { return rows == size; }

  // Whether no queen before attacks one in this column of the next row.
  [[nodiscard]] bool free(std::size_t candidate) const {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t distance = rows - row;
      const std::size_t other = column[row];
      if (other == candidate || other + distance == candidate || candidate + distance == other) return false;
    }
    return true;
  }

  [[nodiscard]] board with(std::size_t candidate) const {
    board next = *this;
    next.column[next.rows++] = static_cast<std::uint8_t>(candidate);
    return next;
  }

  // The sum over a node's children.
  [[nodiscard]] long sum(const counts& parts) const {
    long total = 0;
    for (std::size_t i = 0; i < size; ++i) total += parts[i];
    return total;
  }
};

struct nqueens_problem {
  static constexpr const char* name = "nqueens";

  explicit nqueens_problem(const options& opts) : n{pick(opts, {.smoke = 8, .standard = 12, .paper = 14})} {
    if (n > most_queens) throw std::invalid_argument{"nqueens: --size is at most " + std::to_string(most_queens)};
  }

  [[nodiscard]] board empty() const { return {.size = n}; }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(answer); }

  [[nodiscard]] bool correct() const {
    constexpr std::array<long, most_queens + 1> known = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                                         352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
    return answer == known[n];
  }

  // Forks halve a node's free columns: no more than as many as the queens before it left, in each row.
  [[nodiscard]] std::size_t fork_depth() const {
    std::size_t depth = 0;
    for (std::size_t columns = n; columns > 1; --columns) depth += static_cast<std::size_t>(std::bit_width(columns - 1));
    return depth;
  }

  std::size_t n;
  long answer = 0;
};

}  // namespace bench

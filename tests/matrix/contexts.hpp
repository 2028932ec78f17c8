#pragma once

// Where the matrix runs: off a pool, on pools of 1, 2 and 5, in a task, in a fiber and in the body of another loop. Compiled once: the code
// that runs there is behind a pointer.

#include <cstddef>
#include <functional>
#include <vector>

#include "algorithms.hpp"

namespace test::matrix {

struct context {
  char const* name;
  /// Runs the given function there, once or several times at once, and returns all outcomes.
  std::vector<outcome> (*run)(std::function<outcome()> const&);
};
std::vector<context> const& contexts();

/// If the outcomes of the context differ from what is expected, fails with the names of the cell and both outcomes, and returns false.
bool agree(std::vector<outcome> const& got, outcome const& expected, char const* range, char const* projection, char const* algorithm,
           std::size_t n, char const* where);

}  // namespace test::matrix

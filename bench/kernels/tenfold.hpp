#pragma once

// tenfold: a tree in which each node but the leaves forks ten children in a loop, and a leaf does next to nothing.

#include <string>

#include "../harness.hpp"

namespace bench {

struct tenfold_problem {
  static constexpr const char* name = "tenfold";
  static constexpr int children = 10;

  explicit tenfold_problem(const options& opts) : depth{static_cast<int>(pick(opts, {.smoke = 3, .standard = 6, .paper = 8}))} {}

  [[nodiscard]] std::string size() const { return std::to_string(depth); }
  [[nodiscard]] bool correct() const {
    long leaves = 1;
    for (int k = 0; k < depth; ++k) leaves *= children;
    return found == leaves;
  }
  [[nodiscard]] std::string answer_text() const { return std::to_string(found) + " leaves"; }

  int depth;
  long found = 0;
};

}  // namespace bench

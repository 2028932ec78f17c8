#pragma once

// uts: walks an unbalanced tree and returns its depth, its nodes and its leaves. A task for every node: no cut-off, no batching. A node
// keeps its children's states and answers until all of them are done, in memory of a size that only the running program knows.

#include <string>
#include <string_view>

#include "../harness.hpp"
#include "uts_tree.hpp"

namespace bench {

struct uts_problem {
  static constexpr const char* name = "uts";

  explicit uts_problem(const options& opts) : which{tree_named(opts.size == "smoke" ? small(opts.tree) : opts.tree)} {}

  [[nodiscard]] std::string size() const { return std::string{which.name}; }
  [[nodiscard]] bool correct() const { return answer == which.expected; }

  [[nodiscard]] std::string answer_text() const {
    return "depth " + std::to_string(answer.depth) + ", nodes " + std::to_string(answer.nodes) + ", leaves " +
           std::to_string(answer.leaves);
  }

  const tree& which;
  extent answer;

 private:
  // The small tree of the same kind.
  static std::string_view small(std::string_view tree_name) { return tree_named(tree_name).kind == tree::shape::geometric ? "T1S" : "T3S"; }
};

}  // namespace bench

#pragma once

// The trees of the Unbalanced Tree Search benchmark. A node is a SHA-1 digest; it alone decides how many children the node has, so the size
// of a subtree is not known without walking it.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "sha1.hpp"

namespace bench {

struct node {
  digest state;
  int height;

  [[nodiscard]] node child(std::size_t index) const {
    std::array<std::uint8_t, 24> message;
    std::copy(state.begin(), state.end(), message.begin());
    store_big_endian(message.data() + 20, static_cast<std::uint32_t>(index));
    return {sha1(std::span<const std::uint8_t, 24>{message}), height + 1};
  }

  // Uniform in [0, 1).
  [[nodiscard]] double random() const { return (load_big_endian(state.data() + 16) & 0x7fffffffu) / 2147483648.0; }
};

// The results about a tree, or one of its subtrees.
struct extent {
  long depth = 0;
  long nodes = 0;
  long leaves = 0;

  static extent leaf(const node& at) { return {at.height, 1, 1}; }
  static extent inner(const node& at) { return {at.height, 1, 0}; }

  void add(const extent& subtree) {
    depth = std::max(depth, subtree.depth);
    nodes += subtree.nodes;
    leaves += subtree.leaves;
  }

  bool operator==(const extent&) const = default;
};

struct tree {
  enum class shape { binomial, geometric };

  std::string_view name;
  shape kind;
  std::uint32_t root_id;
  double branching;      // b: how many children the root has; of every node above `depth`, on average (geometric)
  int depth;             // d: no children from here on (geometric)
  double probability;    // q: of having children at all (binomial)
  std::size_t children;  // m: how many then (binomial)
  extent expected;

  [[nodiscard]] node root() const {
    std::array<std::uint8_t, 20> message{};
    store_big_endian(message.data() + 16, root_id);
    return {sha1(std::span<const std::uint8_t, 20>{message}), 0};
  }

  [[nodiscard]] std::size_t children_of(const node& parent) const {
    if (kind == shape::binomial) {
      if (parent.height == 0) return static_cast<std::size_t>(branching);
      return parent.random() < probability ? children : 0;
    }
    if (parent.height > 0 && parent.height >= depth) return 0;
    constexpr std::size_t most = 100;
    const double p = 1 / (1 + branching);
    return std::min(most, static_cast<std::size_t>(std::floor(std::log(1 - parent.random()) / std::log(1 - p))));
  }
};

// A child and, once its subtree has been walked, the results.
struct branch {
  node child;
  extent found;
};

// The published trees, and two small ones of the same kinds (T1S, T3S) for tests. Throws std::invalid_argument for any other name.
[[nodiscard]] const tree& tree_named(std::string_view name);

}  // namespace bench

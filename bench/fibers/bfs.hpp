#pragma once

// bfs: the distance of every node of a random graph from the first, level by level. Each node has 16 edges to others drawn
// at random.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../harness.hpp"
#include "spin.hpp"

namespace bench {

struct bfs_problem {
  static constexpr const char* name = "fibers_bfs";
  using node = std::uint32_t;
  static constexpr std::size_t degree = 16;
  static constexpr std::uint32_t far = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t grain = 512;  // nodes of a level that one fiber expands

  explicit bfs_problem(const options& opts)
      : n{pick(opts, {.smoke = 10'000, .standard = 1'000'000, .paper = 1'000'000})}, distance(n), edges_(n * degree) {
    std::uint64_t state = 1;
    for (node& to : edges_) to = static_cast<node>((spin(state++, 2) >> 32) % n);
  }

  [[nodiscard]] std::span<const node> neighbours(node of) const { return {edges_.data() + of * degree, degree}; }

  void reset() {
    for (auto& one : distance) one.store(far, std::memory_order_relaxed);
    pieces = 0;
  }
  [[nodiscard]] std::size_t fibers() const { return pieces; }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(deepest()) + " levels"; }

  // Distances are right if no edge shortens one, and each node but the first has an edge from a node that is one nearer.
  [[nodiscard]] bool correct() const {
    std::vector<bool> reached(n);
    reached[0] = true;
    for (node from = 0; from < n; ++from) {
      if (at(from) == far) continue;
      for (const node to : neighbours(from)) {
        if (at(to) > at(from) + 1) return false;
        if (at(to) == at(from) + 1) reached[to] = true;
      }
    }
    for (node i = 0; i < n; ++i)
      if (reached[i] != (at(i) != far)) return false;
    return at(0) == 0;
  }

  std::size_t n;
  // Relaxed: only one value is ever written to each within a level, and the thread that joins the level sees it.
  std::vector<std::atomic<std::uint32_t>> distance;
  std::size_t pieces = 0;  // that were fibers

 private:
  [[nodiscard]] std::uint32_t at(node i) const { return distance[i].load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t deepest() const {
    std::uint32_t most = 0;
    for (node i = 0; i < n; ++i)
      if (at(i) != far) most = std::max(most, at(i));
    return most;
  }

  std::vector<node> edges_;
};

// The next level as it is found: any number of threads append to it.
class bfs_level {
 public:
  explicit bfs_level(std::size_t room) : nodes_(room) {}

  [[nodiscard]] std::span<const bfs_problem::node> nodes() const { return {nodes_.data(), end_.load(std::memory_order_relaxed)}; }
  void clear() { end_.store(0, std::memory_order_relaxed); }
  void append(std::span<const bfs_problem::node> some) {
    std::ranges::copy(some, nodes_.begin() + static_cast<std::ptrdiff_t>(end_.fetch_add(some.size(), std::memory_order_relaxed)));
  }

 private:
  std::vector<bfs_problem::node> nodes_;
  std::atomic<std::size_t> end_{0};
};

// Sets the distance of the nodes one step beyond `some` that are not reached yet, and appends them to `next`.
inline void expand(bfs_problem& problem, std::span<const bfs_problem::node> some, std::uint32_t level, bfs_level& next) {
  std::array<bfs_problem::node, 512> found;
  std::size_t count = 0;
  for (const auto from : some) {
    for (const auto to : problem.neighbours(from)) {
      std::uint32_t seen = problem.distance[to].load(std::memory_order_relaxed);
      if (seen != bfs_problem::far || !problem.distance[to].compare_exchange_strong(seen, level, std::memory_order_relaxed)) continue;
      if (count == found.size()) {
        next.append(found);
        count = 0;
      }
      found[count++] = to;
    }
  }
  next.append(std::span{found}.first(count));
}

}  // namespace bench

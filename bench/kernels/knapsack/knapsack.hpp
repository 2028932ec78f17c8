#pragma once

// knapsack: the most valuable items that fit, by branch and bound. A branch with the item and one without; a branch ends where even
// filling up with fractions of the next item would not beat the best solution found by anybody so far. So the work depends on the
// order in which branches run: more workers may do more of it or less.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../harness.hpp"

namespace bench {

// A knapsack that is packed up to some item.
struct knapsack {
  std::size_t next;    // the first item not decided on
  std::int64_t space;  // negative: too much is in
  std::int64_t value;
};

struct knapsack_problem {
  static constexpr const char* name = "knapsack";

  struct item {
    std::int64_t value, weight;
  };

  explicit knapsack_problem(const options& opts) : n{pick(opts, {.smoke = 16, .standard = 28, .paper = 32})} {
    if (n > 64) throw std::invalid_argument{"knapsack: --size is at most 64"};
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < n; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const auto weight = static_cast<std::int64_t>(1000 + (state >> 33) % 1000);
      items.push_back({.value = weight + 100, .weight = weight});
      capacity += weight;
    }
    capacity /= 2;
    std::ranges::sort(items, [](const item& a, const item& b) { return a.value * b.weight > b.value * a.weight; });
  }

  [[nodiscard]] knapsack empty() const { return {.next = 0, .space = capacity, .value = 0}; }
  [[nodiscard]] knapsack with_next(const knapsack& k) const {
    return {.next = k.next + 1, .space = k.space - items[k.next].weight, .value = k.value + items[k.next].value};
  }
  [[nodiscard]] static knapsack without_next(const knapsack& k) {
    return {.next = k.next + 1, .space = k.space, .value = k.value};
  }

  // Whether there is nothing to gain beyond this knapsack. Every order is relaxed: `best` says nothing about other memory, and an
  // old value only costs work.
  [[nodiscard]] bool is_end(const knapsack& k) {
    if (k.space < 0) return true;
    std::int64_t most = best.load(std::memory_order_relaxed);
    while (k.value > most && !best.compare_exchange_weak(most, k.value, std::memory_order_relaxed)) {
    }
    if (k.next == n) return true;
    return k.value + k.space * items[k.next].value / items[k.next].weight <= std::max(most, k.value);
  }

  void reset() { best.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(best.load()); }

  // By dynamic programming over the space.
  [[nodiscard]] bool correct() const {
    std::vector<std::int64_t> most(static_cast<std::size_t>(capacity) + 1);
    for (const item& one : items)
      for (std::size_t space = most.size(); space-- > static_cast<std::size_t>(one.weight);)
        most[space] = std::max(most[space], most[space - static_cast<std::size_t>(one.weight)] + one.value);
    return best.load() == most.back();
  }

  // A fork for each item: the most there can be.
  [[nodiscard]] std::size_t fork_depth() const { return n; }

  std::size_t n;
  std::vector<item> items;
  std::int64_t capacity = 0;
  std::atomic<std::int64_t> best{0};
};

}  // namespace bench

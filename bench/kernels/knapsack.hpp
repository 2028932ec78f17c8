#pragma once

// knapsack: the most valuable items that fit, by branch and bound. A branch with the item and one without; a branch ends if even filling up
// with fractions of the next item would not beat the best solution that any worker has found. So the work depends on the order in which
// branches run: more workers may do more of it or less.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace bench {

// A knapsack that is packed up to some item.
struct knapsack {
  std::int32_t next;   // the first item not decided on
  std::int32_t space;  // negative: too much is in
  std::int32_t value;
};

struct knapsack_problem {
  static constexpr const char* name = "knapsack";

  struct item {
    std::int32_t value, weight;
  };

  // Weights are multiples of 16, values hardly differ from weights, and the space is one less than a multiple of 16: so it cannot
  // be filled, there is always a little left to hope for, and bounds end a branch late.
  explicit knapsack_problem(const options& opts) : n{pick(opts, {.smoke = 18, .standard = 28, .paper = 32})} {
    if (n > 48) throw std::invalid_argument{"knapsack: --size is at most 48"};
    std::uint64_t state = 1;
    const auto below = [&](std::uint64_t limit) {
      state = state * 6364136223846793005 + 1442695040888963407;
      return static_cast<std::int32_t>((state >> 33) % limit);
    };
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t weight = 16 * (50 + below(50));
      items.push_back({.value = weight + below(5), .weight = weight});
      capacity += weight;
    }
    capacity = capacity / 2 | 15;
    std::ranges::sort(items, [](const item& a, const item& b) { return a.value * b.weight > b.value * a.weight; });
  }

  [[nodiscard]] knapsack empty() const { return {.next = 0, .space = capacity, .value = 0}; }
  [[nodiscard]] knapsack with_next(const knapsack& k) const {
    return {.next = k.next + 1, .space = k.space - items[index(k.next)].weight, .value = k.value + items[index(k.next)].value};
  }
  [[nodiscard]] static knapsack without_next(const knapsack& k) { return {.next = k.next + 1, .space = k.space, .value = k.value}; }

  // Whether there is nothing to gain beyond this knapsack. Every order is relaxed: `best` says nothing about other memory, and an
  // old value only costs work.
  [[nodiscard]] bool is_end(const knapsack& k) {
    if (k.space < 0) return true;
    std::int32_t most = best.load(std::memory_order_relaxed);
    while (k.value > most && !best.compare_exchange_weak(most, k.value, std::memory_order_relaxed)) {
    }
    if (index(k.next) == n) return true;
    const item& next = items[index(k.next)];
    return k.space * next.value < (std::max(most, k.value) + 1 - k.value) * next.weight;
  }

  void reset() { best.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(best.load()); }

  // By dynamic programming over the space.
  [[nodiscard]] bool correct() const {
    std::vector<std::int32_t> most(index(capacity) + 1);
    for (const item& one : items)
      for (std::size_t space = most.size(); space-- > index(one.weight);)
        most[space] = std::max(most[space], most[space - index(one.weight)] + one.value);
    return best.load() == most.back();
  }

  // A fork for each item: the most there can be.
  [[nodiscard]] std::size_t fork_depth() const { return n; }

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  std::size_t n;
  std::vector<item> items;
  std::int32_t capacity = 0;
  std::atomic<std::int32_t> best{0};
};

}  // namespace bench

#pragma once

// What all libraries are given: the graphs, and the work of nodes, stages, loops and tasks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace flows {

constexpr std::size_t lines = 16;  // items in a pipeline at once

// Nodes by number, each after those before it, and which follow each.
struct network {
  explicit network(std::size_t n) : next(n) {}
  [[nodiscard]] std::size_t size() const { return next.size(); }
  std::vector<std::vector<std::uint32_t>> next;
};

inline network chain(std::size_t n) {
  network made{n};
  for (std::size_t k = 0; k + 1 < n; ++k) made.next[k] = {static_cast<std::uint32_t>(k + 1)};
  return made;
}
inline network tree(std::size_t n) {
  network made{n};
  for (std::size_t k = 0; 2 * k + 2 < n; ++k) made.next[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(2 * k + 2)};
  return made;
}
// A square, of which each node is before those to its right and below.
inline network wavefront(std::size_t n) {
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  network made{side * side};
  for (std::size_t r = 0; r < side; ++r) {
    for (std::size_t c = 0; c < side; ++c) {
      auto& next = made.next[r * side + c];
      if (r + 1 < side) next.push_back(static_cast<std::uint32_t>((r + 1) * side + c));
      if (c + 1 < side) next.push_back(static_cast<std::uint32_t>(r * side + c + 1));
    }
  }
  return made;
}
// Levels of 100 nodes, each with up to four edges into the next level.
inline network levels(std::size_t n) {
  constexpr std::size_t level = 100;
  network made{n};
  std::mt19937 random{1};
  for (std::size_t k = 0; k + level < n; ++k) {
    const std::size_t first = (k / level + 1) * level;
    for (auto e = random() % 5; e > 0; --e) {
      const auto to = static_cast<std::uint32_t>(std::min<std::size_t>(first + random() % level, n - 1));
      if (std::ranges::find(made.next[k], to) == made.next[k].end()) made.next[k].push_back(to);
    }
  }
  return made;
}
inline network apart(std::size_t n) { return network{n}; }
inline network diamond() {
  network made{4};
  made.next[0] = {1, 2};
  made.next[1] = made.next[2] = {3};
  return made;
}

// About a microsecond of arithmetic, for stages that have work.
inline std::uint64_t work(std::uint64_t x) {
  for (int step = 0; step < 600; ++step) x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u + 1;
  return x;
}

inline bool is_prime(std::uint64_t n) {
  if (n < 4) return n > 1;
  if (n % 2 == 0) return false;
  for (std::uint64_t by = 3; by * by <= n; by += 2)
    if (n % by == 0) return false;
  return true;
}

// Whether the last queen attacks none before; one column for each row.
inline bool last_is_safe(const std::vector<char>& queens) {
  const std::size_t last = queens.size() - 1;
  for (std::size_t row = 0; row < last; ++row) {
    const auto across = static_cast<std::size_t>(std::abs(queens[row] - queens[last]));
    if (across == 0 || across == last - row) return false;
  }
  return true;
}

// How many rounds a point of the plane takes to leave the Mandelbrot set's circle.
inline int escape(double re, double im) {
  double x = 0;
  double y = 0;
  int rounds = 0;
  for (; rounds < 200 && x * x + y * y < 4; ++rounds) {
    const double next = x * x - y * y + re;
    y = 2 * x * y + im;
    x = next;
  }
  return rounds;
}

// The price of a call by Black and Scholes: spot, strike, interest, volatility, years.
inline double price(double spot, double strike, double interest, double volatility, double years) {
  const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  const double spread = volatility * std::sqrt(years);
  const double d = (std::log(spot / strike) + (interest + volatility * volatility / 2) * years) / spread;
  return spot * normal(d) - strike * std::exp(-interest * years) * normal(d - spread);
}

// What a stage of the graph pipeline works on: the nodes of `levels`, in order, and those before each.
struct numbered_levels {
  explicit numbered_levels(std::size_t n) : before(n), value(n) {
    const network all = levels(n);
    for (std::size_t k = 0; k < n; ++k)
      for (const std::uint32_t to : all.next[k]) before[to].push_back(static_cast<std::uint32_t>(k));
  }
  void own(std::size_t k) { value[k] = work(k); }
  void twice(std::size_t k) { value[k] = work(value[k]); }
  void with_those_before(std::size_t k) {
    for (const std::uint32_t from : before[k]) value[k] += value[from];
  }
  std::vector<std::vector<std::uint32_t>> before;
  std::vector<std::uint64_t> value;
};

}  // namespace flows

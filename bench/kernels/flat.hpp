#pragma once

// flat: one loop that forks n children with next to nothing to do, and one join. The deque never grows past the one continuation if
// children run first; it grows to n if they are queued.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace bench {

struct flat_problem {
  static constexpr const char* name = "flat";

  explicit flat_problem(const options& opts) : results(pick(opts, {.smoke = 10'000, .standard = 1'000'000, .paper = 10'000'000})) {}

  // What a child computes.
  static std::uint32_t value(std::uint32_t i) { return (i ^ i >> 16) * 0x45d9f3bu; }

  void reset() { results.assign(results.size(), 0); }
  [[nodiscard]] std::string size() const { return std::to_string(results.size()); }

  [[nodiscard]] bool correct() const {
    for (std::uint32_t i = 0; i < results.size(); ++i)
      if (results[i] != value(i)) return false;
    return true;
  }

  [[nodiscard]] std::string answer_text() const {
    std::uint64_t sum = 0;
    for (std::uint32_t result : results) sum += result;
    return std::to_string(sum);
  }

  std::vector<std::uint32_t> results;
};

}  // namespace bench

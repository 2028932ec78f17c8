#pragma once

// fib(40), serial below 20, where each leaf takes many more iterations: two fibers a node, which wait for theirs. The size
// is the iterations of a leaf.

#include <cstddef>
#include <cstdint>
#include <string>

#include "../harness.hpp"
#include "spin.hpp"

namespace bench {

struct fib_of_fibers {
  static constexpr const char* name = "fibers_fib";
  static constexpr long serial_below = 20;

  explicit fib_of_fibers(const options& opts)
      : n{opts.size == "smoke" ? 26 : 40}, iterations{pick(opts, {.smoke = 100, .standard = 20'000, .paper = 500'000})} {}

  // Off by one if an iteration is missing.
  [[nodiscard]] long leaf(long m) const {
    const auto seed = static_cast<std::uint64_t>(m);
    return serial(m) + (spin(seed, iterations) == spun(seed, iterations) ? 0 : 1);
  }

  [[nodiscard]] std::size_t fibers() const { return 2 * inner_nodes(n); }
  [[nodiscard]] std::string size() const { return std::to_string(iterations); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(answer); }
  [[nodiscard]] bool correct() const { return answer == (n == 26 ? 121'393 : 102'334'155); }

  long n;
  std::size_t iterations;
  long answer = 0;

 private:
  static long serial(long m) { return m < 2 ? m : serial(m - 1) + serial(m - 2); }
  static std::size_t inner_nodes(long m) { return m < serial_below ? 0 : 1 + inner_nodes(m - 1) + inner_nodes(m - 2); }
};

}  // namespace bench

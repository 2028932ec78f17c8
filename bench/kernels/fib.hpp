#pragma once

// fib: one addition per fork, so nothing is measured but the fork itself.

#include <cstddef>
#include <string>

#include "../harness.hpp"

namespace bench {

struct fib_problem {
  static constexpr const char* name = "fib";

  explicit fib_problem(const options& opts) : n{static_cast<long>(pick(opts, {.smoke = 16, .standard = 34, .paper = 42}))} {}

  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(answer); }

  [[nodiscard]] bool correct() const {
    long current = 0;
    long next = 1;
    for (long i = 0; i < n; ++i) {
      const long sum = current + next;
      current = next;
      next = sum;
    }
    return answer == current;
  }

  [[nodiscard]] std::size_t fork_depth() const { return n < 2 ? 0 : static_cast<std::size_t>(n - 1); }

  long n;
  long answer = 0;
};

}  // namespace bench

#pragma once

// mergesort: a fiber for each half down to 5000 numbers; the merge is serial, so the last one alone is a pass over
// everything.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../kernels/quicksort.hpp"

namespace bench {

struct mergesort_problem : quicksort_problem {
  static constexpr const char* name = "fibers_mergesort";
  static constexpr std::size_t serial_below = 5000;

  explicit mergesort_problem(const options& opts) : quicksort_problem{of_fibers(opts)}, scratch(n) {}

  // Numbers from `first` on.
  struct range {
    std::size_t first, count;
    [[nodiscard]] range left() const { return {first, count / 2}; }
    [[nodiscard]] range right() const { return {first + count / 2, count - count / 2}; }
  };
  [[nodiscard]] range all() const { return {0, n}; }

  void sort_serially(range some) {
    if (some.count <= 32) return insertion_sort(begin() + some.first, begin() + some.first + some.count);
    sort_serially(some.left());
    sort_serially(some.right());
    merge(some);
  }
  // Both halves are sorted.
  void merge(range some) {
    std::int32_t* const first = begin() + some.first;
    std::int32_t* const last = first + some.count;
    std::int32_t* const middle = first + some.left().count;
    std::int32_t* const to = scratch.data() + some.first;
    std::copy(to, std::merge(first, middle, middle, last, to), first);
  }

  [[nodiscard]] std::size_t fibers() const { return fibers(n); }

  std::vector<std::int32_t> scratch;

 private:
  static options of_fibers(options opts) {
    opts.size = std::to_string(pick(opts, {.smoke = 50'000, .standard = 5'000'000, .paper = 5'000'000}));
    return opts;
  }
  static std::size_t fibers(std::size_t count) { return count < serial_below ? 0 : 2 + fibers(count / 2) + fibers(count - count / 2); }
};

}  // namespace bench

#pragma once

// quicksort: partition around the median of three, which is serial, then both sides. Its forks nest unevenly, and the work of the
// first ones is the whole array's.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../harness.hpp"

namespace bench {

// Both sides of a partition: nothing before `middle` is greater than anything from there on. Neither side is empty.
inline std::int32_t* partition(std::int32_t* first, std::int32_t* last) {
  const std::int32_t a = *first;
  const std::int32_t b = first[(last - first) / 2];
  const std::int32_t c = last[-1];
  const std::int32_t pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
  std::int32_t* left = first;
  std::int32_t* right = last - 1;
  for (;; ++left, --right) {
    while (*left < pivot) ++left;
    while (pivot < *right) --right;
    if (left >= right) break;
    std::swap(*left, *right);
  }
  return std::max(left, first + 1);
}

inline void insertion_sort(std::int32_t* first, std::int32_t* last) {
  for (std::int32_t* next = first + (first != last); next < last; ++next) {
    const std::int32_t value = *next;
    std::int32_t* to = next;
    for (; to != first && value < to[-1]; --to) *to = to[-1];
    *to = value;
  }
}

struct quicksort_problem {
  static constexpr const char* name = "quicksort";
  static constexpr std::ptrdiff_t leaf = 32;

  explicit quicksort_problem(const options& opts)
      : n{pick(opts, {.smoke = 100'000, .standard = 10'000'000, .paper = 100'000'000})}, numbers(n) {}

  [[nodiscard]] std::int32_t* begin() { return numbers.data(); }
  [[nodiscard]] std::int32_t* end() { return numbers.data() + n; }

  void reset() { before = fill(numbers); }
  [[nodiscard]] std::string size() const { return std::to_string(n); }
  [[nodiscard]] std::string answer_text() const { return std::to_string(checksum(numbers)); }

  // In order, and still the same numbers: the sum over a hash of each has not changed.
  [[nodiscard]] bool correct() const { return std::ranges::is_sorted(numbers) && checksum(numbers) == before; }

  // By partitioning the same numbers once more.
  [[nodiscard]] std::size_t fork_depth() const {
    std::vector<std::int32_t> copy(n);
    fill(copy);
    return fork_depth(copy.data(), copy.data() + n);
  }

  std::size_t n;
  std::vector<std::int32_t> numbers;
  std::uint64_t before = 0;

 private:
  static std::uint64_t hash(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
  }

  // Returns the checksum.
  static std::uint64_t fill(std::vector<std::int32_t>& v) {
    std::uint64_t state = 0;
    for (auto& number : v) number = static_cast<std::int32_t>(hash(state += 0x9E3779B97F4A7C15) >> 32);
    return checksum(v);
  }
  static std::uint64_t checksum(const std::vector<std::int32_t>& v) {
    std::uint64_t sum = 0;
    for (const std::int32_t number : v) sum += hash(static_cast<std::uint32_t>(number) + 0x9E3779B97F4A7C15);
    return sum;
  }

  static std::size_t fork_depth(std::int32_t* first, std::int32_t* last) {
    if (last - first <= leaf) return 0;
    std::int32_t* const middle = partition(first, last);
    return 1 + std::max(fork_depth(first, middle), fork_depth(middle, last));
  }
};

}  // namespace bench

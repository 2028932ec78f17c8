#pragma once

// Where a test of the standard library's algorithms runs, and what it compares.

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <execution>
#include <string>
#include <utility>
#include <vector>

#include "mix.hpp"
#include "nopal/pool.hpp"

namespace test {

/// The greatest size where elements take long to make and to move.
inline constexpr std::size_t some = 5'000;
inline constexpr std::size_t sizes[] = {0, 1, 2, 3, 15, 64, 65, 1000, 4099, 100'003};

/// Calls f(policy) for both policies, off a pool and on one of three workers. There f may continue on another thread: so it traces nothing.
template <class F>
void by_both_policies(const F& f) {
  static nopal::pool pool{{.workers = 3}};
  f(std::execution::par);
  f(std::execution::par_unseq);
  pool.run([&] { f(std::execution::par); });
  pool.run([&] { f(std::execution::par_unseq); });
}
/// Calls f(policy, n) for some sizes too, up to `most`.
template <class F>
void in_all_sizes(const F& f, std::size_t most = 100'003) {
  for (const std::size_t n : sizes) {
    if (n > most) return;
    SCOPED_TRACE(n);
    by_both_policies([&](auto& policy) { f(policy, n); });
  }
}

/// A number that is moved and never copied.
struct only_moved {
  int value;
  only_moved(int v = 0) : value{v} {}
  only_moved(only_moved&& other) noexcept : value{std::exchange(other.value, -1)} {}
  only_moved& operator=(only_moved&& other) noexcept {
    value = std::exchange(other.value, -1);
    return *this;
  }
  friend bool operator==(const only_moved&, const only_moved&) = default;
  friend auto operator<=>(const only_moved&, const only_moved&) = default;
};

template <class T>
T nth(std::uint64_t i, std::uint64_t different) {
  const auto number = static_cast<int>(mix(i) % different);
  if constexpr (std::is_same_v<T, std::string>) {
    return "a string that is too long for its object, " + std::to_string(number);
  } else {
    return T(number);
  }
}
/// n values, of which so many are different.
template <class Range>
Range values(std::size_t n, std::uint64_t different = 1000) {
  Range all;
  for (std::size_t i = 0; i < n; ++i) all.insert(all.end(), nth<typename Range::value_type>(i, different));
  return all;
}
template <class T>
std::vector<T> vector_of(std::size_t n, std::uint64_t different = 1000) {
  return values<std::vector<T>>(n, different);
}
template <class T>
std::vector<T> sorted_of(std::size_t n, std::uint64_t different = 1000) {
  std::vector<T> all = vector_of<T>(n, different);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace test

#pragma once

// Shared by the tests of algorithms: sizes, numbers, values of odd kinds, and pools to run on.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../mix.hpp"
#include "../scale.hpp"
#include "nopal/pool.hpp"

namespace test {

// The last of the sizes is above all from which an algorithm works in parallel, and `large` above all from which it changes its method.
inline constexpr std::array<std::size_t, 9> sizes = {0, 1, 2, 3, 63, 64, 1000, 5000, sanitized ? 140'000 : 200'000};
inline constexpr std::size_t large = sanitized ? 300'000 : 1'000'000;
inline constexpr std::array<std::size_t, 8> few = {0, 1, 2, 3, 5, 33, 64, 65};

/// n numbers from 0 to below - 1.
template <class T = int>
std::vector<T> numbers(std::size_t n, std::uint64_t below = ~std::uint64_t{0}, std::uint64_t seed = 1) {
  std::vector<T> result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = static_cast<T>(mix(seed * 0x1000'0000 + i) % below);
  return result;
}

/// The result of a stable sort of v. (Clang warns about how the standard one of GCC 12 gets its memory.)
template <class V, class Less>
V stably_sorted(const V& v, Less less) {
  std::vector<std::size_t> order(v.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return less(v[a], v[b]) || (!less(v[b], v[a]) && a < b); });
  V result;
  for (const std::size_t i : order) result.push_back(v[i]);
  return result;
}

#ifdef NOPAL_TEST_FEWER_POOLS
inline constexpr std::array<unsigned, 1> pools = {3};
#else
inline constexpr std::array<unsigned, 3> pools = {1, 2, 3};
#endif

/// Calls f(), on a thread of no pool and on pools of one to three workers, or of fewer: `pools`.
template <class F>
void everywhere(F f) {
  {
    SCOPED_TRACE("off a pool");
    f();
  }
  for (unsigned const workers : pools) {
    SCOPED_TRACE(workers);
    nopal::pool pool{{.workers = workers}};
    pool.run([&] { f(); });
  }
}

/// Can be moved, and nothing else; has no default.
struct only_moves {
  explicit only_moves(int v) : value{std::make_unique<int>(v)} {}
  std::unique_ptr<int> value;
  [[nodiscard]] int get() const { return *value; }
  friend bool operator<(const only_moves& a, const only_moves& b) { return *a.value < *b.value; }
};

/// Aligned to 64 bytes, has no default, and reports whether it is aligned.
struct alignas(64) wide {
  explicit wide(int v) : value{v} {}
  wide(const wide& other) : value{other.value} { check(); }
  wide& operator=(const wide& other) {
    value = other.value;
    check();
    return *this;
  }
  void check() const {
    if (reinterpret_cast<std::uintptr_t>(this) % 64 != 0) throw std::logic_error{"a place that is not aligned"};
  }
  int value;
  friend auto operator<=>(const wide& a, const wide& b) { return a.value <=> b.value; }
  friend bool operator==(const wide& a, const wide& b) { return a.value == b.value; }
};

/// The number of the call that threw.
struct thrown {
  std::size_t where;
};

}  // namespace test

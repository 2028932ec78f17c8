#pragma once

// The cells of the matrix: one range by each of some projections by each of the algorithms, with all sizes, in all contexts.

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../scale.hpp"
#include "algorithms.hpp"
#include "comparisons.hpp"
#include "contexts.hpp"
#include "copying.hpp"

namespace test::matrix {

/// Size by size the next context, and one more from cell to cell: so each size meets all contexts, and each range and algorithm too. Small
/// sizes run in all contexts where every cell is wanted.
inline constexpr std::array<std::size_t, 6> small_sizes = {0, 1, 2, 3, 17, 1000};
#if defined(NOPAL_TEST_EVERY_CELL)
inline constexpr bool every_cell = true;
#else
inline constexpr bool every_cell = false;
#endif
inline constexpr std::size_t large_size = sanitized ? 10'007 : 100'003;
/// If elements are not numbers, the largest size would take minutes without optimisation.
inline constexpr std::size_t fewer = 5'003;
template <class T, class P>
inline constexpr std::size_t largest =
    std::is_trivially_copyable_v<T> || (every_cell && std::is_same_v<P, std::identity>) ? large_size : fewer;
inline std::span<context const> contexts_for(std::size_t n) {
  static std::size_t cells = 0;
  std::span<context const> const all{contexts()};
  if (every_cell && n <= small_sizes.back()) return all;
  std::size_t const k = cells++;
  return all.subspan((k + k / (small_sizes.size() + 1)) % all.size(), 1);
}

template <class F>
struct projection {
  char const* name;
  F f;
};
template <class F>
projection(char const*, F) -> projection<F>;
inline constexpr projection by_identity{"identity", std::identity{}};

/// The source of a range, at one size: the data, and its elements as a vector.
template <class Data, class T>
struct sample {
  std::size_t n;
  Data data;
  std::vector<T> all;
};

template <class Algorithm, class View, class Samples, class P>
void cell(char const* range, View view, Samples& samples, projection<P> const& by) {
  for (auto& [n, data, all] : samples) {
    if (n > small_sizes.back() && n != largest<typename std::remove_cvref_t<decltype(all)>::value_type, P>) continue;
    outcome const expected = Algorithm::template of<serial>(all, all, by.f);
    auto const run = [&] {
      using reference = std::ranges::range_reference_t<decltype(view(data))>;
      if constexpr (std::is_rvalue_reference_v<reference>) {  // it takes its elements away
        auto copy = data;
        decltype(auto) r = view(copy);
        return Algorithm::template of<parallel>(r, all, by.f);
      } else {
        decltype(auto) r = view(data);
        return Algorithm::template of<parallel>(r, all, by.f);
      }
    };
    for (auto const& where : contexts_for(n)) {
      if (!agree(where.run(run), expected, range, by.name, Algorithm::name, n, where.name)) return;
    }
  }
}

template <class View, class Samples, class P, class... Algorithm>
void row(char const* range, View view, Samples& samples, projection<P> const& by, list<Algorithm...>) {
  (matrix::cell<Algorithm>(range, view, samples, by), ...);
}

/// The range view(make(n)), with each size.
template <class Make, class View>
auto samples_of(Make make, View view) {
  auto data = make(0);
  using value = std::ranges::range_value_t<decltype(view(data))>;
  std::deque<sample<decltype(data), value>> samples;
  auto const add = [&](std::size_t n) {
    auto& made = samples.emplace_back(n, make(n), std::vector<value>{});
    decltype(auto) r = view(made.data);
    for (auto it = std::ranges::begin(r); it != std::ranges::end(r); ++it) made.all.push_back(*it);
  };
  for (std::size_t const n : small_sizes) add(n);
  add(fewer);
  add(large_size);
  return samples;
}

/// As over, where every cell is wanted: a range that is made of the same parts as another one.
template <class... A>
void over_too(A const&... a);

/// Tests the range view(make(n)) with each of the projections. A cell ends with the first outcome that differs.
template <class Make, class View, class... P>
void over(char const* range, Make make, View view, projection<P> const&... by) {
  auto samples = matrix::samples_of(make, view);
  matrix::row(range, view, samples, by_identity, reading_without_projection{});
  matrix::row(range, view, samples, by_identity, summing_blocks{});
  matrix::row(range, view, samples, by_identity, reading{});
  matrix::row(range, view, samples, by_identity, comparing{});
  (matrix::row(range, view, samples, by, reading{}), ...);
  matrix::row(range, view, samples, by_identity, copying_without_projection{});
  matrix::row(range, view, samples, by_identity, copying{});
  if constexpr (every_cell) {
    (matrix::row(range, view, samples, by, copying{}), ...);
    (matrix::row(range, view, samples, by, comparing{}), ...);
  }
}

template <class... A>
void over_too(A const&... a) {
  if constexpr (every_cell) matrix::over(a...);
}

}  // namespace test::matrix

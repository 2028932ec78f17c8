#pragma once

// What inclusive_scan and exclusive_scan share: each block is summed up, then the sums before each block, then each block is scanned from there.
// Blocks depend on the number of elements alone, so that rounded sums have the same bits on any number of workers.

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/order.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

template <class Op, class T, class I>
concept scans =
    std::invocable<Op&, T, std::iter_reference_t<I>> && std::invocable<Op&, T, T> &&
    std::convertible_to<std::invoke_result_t<Op&, T, std::iter_reference_t<I>>, T> &&
    std::convertible_to<std::invoke_result_t<Op&, T, T>, T> && std::constructible_from<T, std::iter_reference_t<I>> && std::copyable<T>;

/// A block is at least so long: what is shorter is scanned as the standard library does.
inline constexpr std::size_t least_scan_block = 256;

/// Writes the sums of what is before each element (exclusive) or up to it. `init` is what comes before all, if anything.
template <bool Inclusive, class T, class I, class O, class Op>
void scan(I first, std::size_t n, O out, Op& op, std::optional<T> init) {
  if (n == 0) return;
  const blocks cut{n, least_scan_block};
  std::vector<std::optional<T>> sums(cut.count);
  if (cut.count > 1) {
    algorithms::loop(cut.count - 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t block = from; block != to; ++block) {
        const I stop = algorithms::ahead(first, cut.end(block));
        I it = algorithms::ahead(first, cut.begin(block));
        T sum(*it);
        while (++it != stop) sum = std::invoke(op, std::move(sum), *it);
        sums[block].emplace(std::move(sum));
      }
    });
    for (std::size_t block = 0; block + 1 < cut.count; ++block) {
      std::optional<T> before = std::move(init);
      init.emplace(before ? static_cast<T>(std::invoke(op, *before, std::move(*sums[block]))) : std::move(*sums[block]));
      sums[block] = std::move(before);
    }
  }
  sums[cut.count - 1] = std::move(init);
  algorithms::each_block(cut, [&](std::size_t block, std::size_t from, std::size_t to) {
    const I stop = algorithms::ahead(first, to);
    I it = algorithms::ahead(first, from);
    O result = algorithms::ahead(out, from);
    if constexpr (Inclusive) {
      T sum = sums[block] ? static_cast<T>(std::invoke(op, std::move(*sums[block]), *it)) : T(*it);
      *result = sum;
      while (++it != stop) {
        sum = std::invoke(op, std::move(sum), *it);
        *++result = sum;
      }
    } else {
      T sum = std::move(*sums[block]);
      for (;;) {
        T next = std::invoke(op, sum, *it);  // before the element is written over, where `out` is where they come from
        *result = std::move(sum);
        if (++it == stop) return;
        sum = std::move(next);
        ++result;
      }
    }
  });
}

}  // namespace nopal::core::algorithms

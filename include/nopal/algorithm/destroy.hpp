#pragma once

// destroy, destroy_n: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <atomic>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/loop.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/stop.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

struct destroy_function : refuses_proxies {
  using refuses_proxies::operator();

  template <unmade I, std::sentinel_for<I> S>
    requires std::destructible<std::iter_value_t<I>>
  I operator()(I first, S last) const noexcept {
    const I end = algorithms::end_of(first, last);
    if constexpr (!std::is_trivially_destructible_v<std::iter_value_t<I>>) {
      std::atomic<std::size_t> destroyed{0};
      try {
        nopal::without_stop([&] {
          algorithms::loop(static_cast<std::size_t>(end - first), [&](std::size_t from, std::size_t to) {
            std::ranges::destroy(algorithms::ahead(first, from), algorithms::ahead(first, to));
            destroyed.fetch_add(to - from, std::memory_order::relaxed);  // relaxed, as the load: only the caller's own count matters there
          });
        });
      } catch (...) {  // no default pool: the caller has destroyed the first elements, and nobody any other
        std::ranges::destroy(algorithms::ahead(first, destroyed.load(std::memory_order::relaxed)), end);
      }
    }
    return end;
  }
  template <std::ranges::random_access_range R>
    requires unmade<std::ranges::iterator_t<R>> && std::destructible<std::ranges::range_value_t<R>>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range) const noexcept {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range));
  }
};

struct destroy_n_function : refuses_counted_places {
  using refuses_counted_places::operator();

  template <unmade I>
    requires std::destructible<std::iter_value_t<I>>
  I operator()(I first, std::iter_difference_t<I> n) const noexcept {
    return destroy_function{}(first, algorithms::counted_end(first, n));
  }
};

}  // namespace core::algorithms

/// destroy(first, last), destroy(range): destroys all elements and returns the end, as std::ranges::destroy does. It destroys all of them
/// also where the caller is asked to stop or no default pool can be made. Throws nothing. O(n) work, O(log n) span.
inline constexpr core::algorithms::destroy_function destroy{};

/// destroy_n(first, n): destroys [first, first + n), as std::ranges::destroy_n does.
inline constexpr core::algorithms::destroy_n_function destroy_n{};

}  // namespace nopal

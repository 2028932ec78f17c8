#pragma once

// The least and the greatest: min, max, minmax, min_element, max_element, minmax_element: as those of std::ranges, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/extremes.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/core/loop/made_of.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// Refuses lists given alone: two lists may be compared as values.
struct refuses_lists_alone {
  template <only_in_order R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  void operator()(R&&, Comp = {}, Proj = {}) const {
    refuses_lists::say<R>();
  }
};

/// Returns a copy of the element that best() chooses; there is at least one. For numbers with plain comparisons the place is not kept: so
/// the loop vectorises.
template <bool Greatest, class T, class I, class Comp, class Proj>
T best_value(const I& first, std::size_t n, Comp& comp, Proj& proj) {
  using all = contest<I, Comp, Proj>;
  if constexpr (all::cheap_choice && std::same_as<Proj, std::identity> && std::same_as<typename all::V, T>) {
    using one = typename all::one;
    const auto next = [&](T& so_far, T x) {
      if (Greatest ? comp(so_far, x) : comp(x, so_far)) so_far = x;
    };
    return all{first, comp, proj}.template choose<T>(
        n, [](one x) { return x.value; }, [&](T& so_far, one x) { next(so_far, x.value); },
        [&](T left, T right) {
          next(left, right);
          return left;
        });
  } else {
    return core::made_of<T>(*algorithms::best<Greatest>(first, n, comp, proj));
  }
}

struct min_function : refuses_lists_alone {
  using refuses_lists_alone::operator();

  template <class T, class Proj = std::identity, std::indirect_strict_weak_order<std::projected<const T*, Proj>> Comp = std::ranges::less>
  constexpr const T& operator()(const T& a, const T& b, Comp comp = {}, Proj proj = {}) const {
    return std::ranges::min(a, b, std::move(comp), std::move(proj));
  }
  template <std::copyable T, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<const T*, Proj>> Comp = std::ranges::less>
  T operator()(std::initializer_list<T> values, Comp comp = {}, Proj proj = {}) const {
    return algorithms::best_value<false, T>(values.begin(), values.size(), comp, proj);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
    requires std::indirectly_copyable_storable<std::ranges::iterator_t<R>, std::ranges::range_value_t<R>*>
  std::ranges::range_value_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    const auto first = std::ranges::begin(range);
    return algorithms::best_value<false, std::ranges::range_value_t<R>>(first, algorithms::length(first, algorithms::end_of(range)), comp,
                                                                        proj);
  }
};

struct max_function : refuses_lists_alone {
  using refuses_lists_alone::operator();

  template <class T, class Proj = std::identity, std::indirect_strict_weak_order<std::projected<const T*, Proj>> Comp = std::ranges::less>
  constexpr const T& operator()(const T& a, const T& b, Comp comp = {}, Proj proj = {}) const {
    return std::ranges::max(a, b, std::move(comp), std::move(proj));
  }
  template <std::copyable T, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<const T*, Proj>> Comp = std::ranges::less>
  T operator()(std::initializer_list<T> values, Comp comp = {}, Proj proj = {}) const {
    return algorithms::best_value<true, T>(values.begin(), values.size(), comp, proj);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
    requires std::indirectly_copyable_storable<std::ranges::iterator_t<R>, std::ranges::range_value_t<R>*>
  std::ranges::range_value_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    const auto first = std::ranges::begin(range);
    return algorithms::best_value<true, std::ranges::range_value_t<R>>(first, algorithms::length(first, algorithms::end_of(range)), comp,
                                                                       proj);
  }
};

struct minmax_function : refuses_lists_alone {
  using refuses_lists_alone::operator();

  template <class T, class Proj = std::identity, std::indirect_strict_weak_order<std::projected<const T*, Proj>> Comp = std::ranges::less>
  constexpr std::ranges::minmax_result<const T&> operator()(const T& a, const T& b, Comp comp = {}, Proj proj = {}) const {
    return std::ranges::minmax(a, b, std::move(comp), std::move(proj));
  }
  template <std::copyable T, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<const T*, Proj>> Comp = std::ranges::less>
  std::ranges::minmax_result<T> operator()(std::initializer_list<T> values, Comp comp = {}, Proj proj = {}) const {
    return both<T>(algorithms::least_and_greatest(values.begin(), values.size(), comp, proj));
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
    requires std::indirectly_copyable_storable<std::ranges::iterator_t<R>, std::ranges::range_value_t<R>*>
  std::ranges::minmax_result<std::ranges::range_value_t<R>> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    const auto first = std::ranges::begin(range);
    const auto n = algorithms::length(first, algorithms::end_of(range));
    return both<std::ranges::range_value_t<R>>(algorithms::least_and_greatest(first, n, comp, proj));
  }

 private:
  template <class T, class I>
  static std::ranges::minmax_result<T> both(const std::ranges::minmax_element_result<I>& found) {
    if constexpr (!std::is_lvalue_reference_v<std::iter_reference_t<I>>) {
      if (found.min == found.max) {  // it may be moved away, so it is read once
        T least = core::made_of<T>(*found.min);
        T greatest(std::as_const(least));
        return {std::move(least), std::move(greatest)};
      }
    }
    return {core::made_of<T>(*found.min), core::made_of<T>(*found.max)};
  }
};

struct min_element_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<I, Proj>> Comp = std::ranges::less>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    return algorithms::best<false>(first, algorithms::length(first, last), comp, proj);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

struct max_element_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<I, Proj>> Comp = std::ranges::less>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    return algorithms::best<true>(first, algorithms::length(first, last), comp, proj);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
  }
};

struct minmax_element_function : refuses_lists {
  using refuses_lists::operator();

  template <std::random_access_iterator I, std::sentinel_for<I> S, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<I, Proj>> Comp = std::ranges::less>
  std::ranges::minmax_element_result<I> operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    return algorithms::least_and_greatest(first, algorithms::length(first, last), comp, proj);
  }
  template <std::ranges::random_access_range R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  std::ranges::minmax_element_result<std::ranges::borrowed_iterator_t<R>> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    auto result = (*this)(std::ranges::begin(range), algorithms::end_of(range), std::move(comp), std::move(proj));
    return {std::move(result.min), std::move(result.max)};
  }
};

}  // namespace core::algorithms

/// min(range, comp = less, proj = identity), min({a, b, ...}, comp, proj): returns a copy of the first of the least elements, as
/// std::ranges::min does; there must be an element. Several threads call comp and proj at once. Throws what the first block of elements
/// that threw has thrown; blocks depend only on n. Off a pool also throws what default_pool() throws. O(n) work, O(sqrt(n) + log n) span.
/// min(a, b, comp, proj) is that of std::ranges and returns a reference.
inline constexpr core::algorithms::min_function min{};
/// max(range, comp = less, proj = identity), max({a, b, ...}, comp, proj): returns a copy of the first of the greatest elements, as
/// std::ranges::max does. All else is as for min.
inline constexpr core::algorithms::max_function max{};
/// minmax(range, comp = less, proj = identity), minmax({a, b, ...}, comp, proj): returns copies of the first of the least elements and the
/// last of the greatest, as std::ranges::minmax does. All else is as for min.
inline constexpr core::algorithms::minmax_function minmax{};

/// min_element(first, last, comp = less, proj = identity), min_element(range, comp, proj): returns the first of the least elements, or the
/// end of an empty range, as std::ranges::min_element does. All else is as for min.
inline constexpr core::algorithms::min_element_function min_element{};

/// max_element(first, last, comp = less, proj = identity), max_element(range, comp, proj): returns the first of the greatest elements, or
/// the end of an empty range, as std::ranges::max_element does. All else is as for min.
inline constexpr core::algorithms::max_element_function max_element{};

/// minmax_element(first, last, comp = less, proj = identity), minmax_element(range, comp, proj): returns the first of the least elements
/// and the last of the greatest, or the end twice, as std::ranges::minmax_element does. All else is as for min.
inline constexpr core::algorithms::minmax_element_function minmax_element{};

}  // namespace nopal

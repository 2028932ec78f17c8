#pragma once

// nopal::min, max, minmax: as std::ranges::min, max and minmax, in parallel.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <utility>

#include "nopal/algorithm/internal/extent.hpp"
#include "nopal/algorithm/internal/extremes.hpp"
#include "nopal/algorithm/internal/refusals.hpp"
#include "nopal/core/loop/made_of.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core::algorithms {

/// Of lists alone: two of them may be compared as values.
struct refuses_lists_alone {
  template <only_in_order R, class Proj = std::identity,
            std::indirect_strict_weak_order<std::projected<std::ranges::iterator_t<R>, Proj>> Comp = std::ranges::less>
  void operator()(R&&, Comp = {}, Proj = {}) const {
    refuses_lists::say<R>();
  }
};

/// A copy of the element that best() chooses, of one at least. Of numbers that are compared plainly the place is not kept: so they are compared in vectors.
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
    return {core::made_of<T>(*found.min), core::made_of<T>(*found.max)};
  }
};

}  // namespace core::algorithms

/// min(range, comp = less, proj = identity), min({a, b, ...}, comp, proj): a copy of the first of the least elements, of one at least, as std::ranges::min.
/// The comparator and the projection are called by several threads at once. Throws what the first block of elements that threw has thrown; off a
/// pool also what default_pool() throws. O(n) work, O(sqrt(n) + log n) span; blocks of elements depend on n alone. min(a, b, comp, proj) is
/// std::ranges::min's, a reference.
inline constexpr core::algorithms::min_function min{};
/// max(range, comp = less, proj = identity), and as min: the first of the greatest elements, as std::ranges::max. All else is as for min.
inline constexpr core::algorithms::max_function max{};
/// minmax(range, comp = less, proj = identity), and as min: the first of the least elements and the last of the greatest, as std::ranges::minmax. All else
/// is as for min.
inline constexpr core::algorithms::minmax_function minmax{};

}  // namespace nopal

#pragma once

// The tree of choices that min_element, max_element, minmax_element, min, max and minmax share. It depends on the number of elements and on
// types alone.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/internal/elements.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/reduction.hpp"

namespace nopal::inline NOPAL_ABI::core::algorithms {

/// A candidate: where it is, and its projection if that is a number and no part of the element. Otherwise the projection is called for each
/// comparison: see README.md, "Values".
template <class I, class V>
struct candidate {
  I place;
  V value;
};
template <class I>
struct candidate<I, void> {
  I place;
};

template <class I, class Comp, class Proj>
struct contest {
  using projected = std::invoke_result_t<Proj&, std::iter_reference_t<I>>;
  using V = std::remove_cvref_t<projected>;
  static constexpr bool cheap_choice = compares_plainly<Comp> && can_be_kept<V>;
  static constexpr bool keeps = can_be_kept<V> && (cheap_choice || !std::is_reference_v<projected>);
  static constexpr bool cheap_value = std::is_same_v<Proj, std::identity> && std::is_lvalue_reference_v<std::iter_reference_t<I>>;
  using one = candidate<I, std::conditional_t<keeps, V, void>>;

  I first;
  Comp& comp;
  Proj& proj;

  NOPAL_INLINE one at(const I& it) const {
    if constexpr (keeps) {
      return {it, static_cast<V>(std::invoke(proj, *it))};
    } else {
      return {it};
    }
  }
  NOPAL_INLINE bool less(one a, one b) const {
    if constexpr (keeps) {
      return static_cast<bool>(std::invoke(comp, a.value, b.value));
    } else {
      return projected_less<Comp, Proj>{comp, proj}(*a.place, *b.place);
    }
  }

  /// Returns what the tree chooses: begin(c) makes a choice of one candidate, next(choice, c) adds one behind it, join(left, right) joins
  /// two. n > 0.
  template <class Choice, class Begin, class Next, class Join>
  Choice choose(std::uint64_t n, const Begin& begin, const Next& next, const Join& join) const {
    const std::uint64_t size = cheap_choice ? long_leaf_size(n, cheap_value) : leaf_size(n);
    auto leaf = [&](std::uint64_t k) {
      const std::uint64_t from = k * size;
      const std::uint64_t to = std::min(n, from + size);
      if constexpr (cheap_choice && !cheap_value) {
        Choice choice{};
        auto each = [&](std::uint64_t i, auto use) { return use(std::invoke(proj, *algorithms::ahead(first, i))); };
        auto add = [&](std::uint64_t i, std::uint64_t last, auto& values) {
          I it = algorithms::ahead(first, i);
          if (i == from) choice = values(i++, [&](auto&& x) { return begin(one{it++, static_cast<V>(x)}); });
          Choice so_far = choice;
          for (; i < last; ++i, static_cast<void>(++it)) values(i, [&](auto&& x) { next(so_far, one{it, static_cast<V>(x)}); });
          choice = so_far;
        };
        use_values<contest, V>(from, to, 8, k == 0, each, add);
        return choice;
      } else {
        I it = algorithms::ahead(first, from);
        const I last = algorithms::ahead(first, to);
        Choice choice = begin(at(it));
        while (++it != last) next(choice, at(it));
        return choice;
      }
    };
    auto joined = [&](Choice&& left, Choice&& right) { return join(left, right); };
    fixed_tree<Choice, decltype(leaf), decltype(joined)> tree{(n - 1) / size + 1, size, leaf, joined, cost_of<tree_of<contest>>};
    return tree.run();
  }
};

/// Returns the best element, the first of equal ones: a later one replaces it if it is greater (`Greatest`), or less. The end if
/// there are none.
template <bool Greatest, class I, class Comp, class Proj>
I best(I first, std::size_t n, Comp& comp, Proj& proj) {
  if (n == 0) return first;
  using all = contest<I, Comp, Proj>;
  using one = typename all::one;
  const all of{first, comp, proj};
  const auto next = [&](one& best, one x) {
    if (Greatest ? of.less(best, x) : of.less(x, best)) best = x;
  };
  const one found = of.template choose<one>(
      n, [](one x) { return x; }, next,
      [&](one left, one right) {
        next(left, right);
        return left;
      });
  return found.place;
}

/// Returns the first of the least and the last of the greatest.
template <class I, class Comp, class Proj>
std::ranges::minmax_element_result<I> least_and_greatest(I first, std::size_t n, Comp& comp, Proj& proj) {
  if (n == 0) return {first, first};
  using all = contest<I, Comp, Proj>;
  using one = typename all::one;
  struct both {
    one low;
    one high;
  };
  const all of{first, comp, proj};
  const both found = of.template choose<both>(
      n, [](one x) { return both{x, x}; },
      [&](both& so_far, one x) {
        if (of.less(x, so_far.low)) [[unlikely]] {
          so_far.low = x;
        } else if (!of.less(x, so_far.high)) [[unlikely]] {
          so_far.high = x;
        }
      },
      [&](const both& left, const both& right) {
        return both{of.less(right.low, left.low) ? right.low : left.low, of.less(right.high, left.high) ? left.high : right.high};
      });
  return {found.low.place, found.high.place};
}

}  // namespace nopal::core::algorithms

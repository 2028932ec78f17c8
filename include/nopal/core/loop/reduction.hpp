#pragma once

// reduce and transform_reduce, from elements by number. Called by ../../algorithm/reduce.hpp and transform_reduce.hpp. Next: leaves.hpp,
// then fixed_tree.hpp.

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/blocks_of.hpp"
#include "nopal/core/loop/fixed_tree.hpp"
#include "nopal/core/loop/leaves.hpp"
#include "nopal/core/loop/slow_values.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The type with which each(k, use) calls use, without its reference.
template <class Each>
using element_of = typename decltype(std::declval<Each&>()(
    std::uint64_t{0}, [](auto&& x) { return std::type_identity<std::remove_cvref_t<decltype(x)>>{}; }))::type;

/// op(init, x0, x1, ...) of `count` elements, as the leaves and the tree group them. each(k, use): calls use(x) with element k, and returns
/// what that returns. `Site`: costs are remembered by its type. `Cheap`: no element takes more than some nanoseconds.
template <class Site, bool Cheap, class T, class Op, class Each>
T reduce_by_number(std::uint64_t count, T init, Op& op, Each& each, grain g) {
  if (count == 0) return static_cast<T&&>(init);  // GCC 12 would prefer a T(T&)
  using V = element_of<Each>;
  constexpr bool at_will = groups_at_will<T, V>;
  constexpr bool op_is_cheap = commutes<std::remove_cv_t<Op>, T> && can_be_kept<V>;
  std::uint64_t const size = g.iterations > 0 ? g.iterations : op_is_cheap ? long_leaf_size(count, Cheap, at_will) : leaf_size(count);
  std::uint64_t const leaves = (count - 1) / size + 1;
  auto leaf = [&](std::uint64_t k) {
    std::uint64_t const from = k * size;
    std::uint64_t const to = count - from < size ? count : from + size;
    if constexpr (op_is_cheap) {
      sum_in_lanes<T, Op, at_will> sum{from, to, op};
      auto add = [&](std::uint64_t first, std::uint64_t last, auto& values) { sum.add(first, last, values); };
      if (Cheap || g.iterations > 0) {
        add(from, to, each);
      } else {
        use_values<Site, V>(from, to, 16, k == 0, each, add);
      }
      return sum.end();
    } else {
      return core::reduce_leaf<T>(from, to, op, each);
    }
  };
  auto join = [&](T&& left, T&& right) { return core::joined<T>(op, std::move(left), std::move(right)); };
  fixed_tree<T, decltype(leaf), decltype(join)> tree{leaves, size, leaf, join, cost_of<tree_of<Site>>};
  return core::joined<T>(op, std::move(init), tree.run());
}

}  // namespace nopal::core

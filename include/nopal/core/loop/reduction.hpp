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

namespace nopal::inline NOPAL_ABI::core {

/// op(init, get(0), ..., get(count - 1)), as the leaves and the tree group them. `Site`: by its type costs are remembered. `cheap`: get
/// takes no more than some nanoseconds, where op does.
template <class Site, bool Cheap, class T, class Op, class Get>
T reduce_by_number(std::uint64_t count, T init, Op& op, Get& get, grain g) {
  if (count == 0) return init;
  std::uint64_t const size = g.iterations > 0 ? g.iterations : leaf_size(count, Cheap && commutes<std::remove_cv_t<Op>, T>);
  std::uint64_t const leaves = (count - 1) / size + 1;
  auto leaf = [&](std::uint64_t k) {
    std::uint64_t const from = k * size;
    return reduce_leaf<T>(from, count - from < size ? count : from + size, op, get);
  };
  auto join = [&](T&& left, T&& right) { return static_cast<T>(std::invoke(op, std::move(left), std::move(right))); };
  fixed_tree<T, decltype(leaf), decltype(join)> tree{leaves, leaf, join, cost_of<Site>};
  return static_cast<T>(std::invoke(op, std::move(init), tree.run()));
}

}  // namespace nopal::core

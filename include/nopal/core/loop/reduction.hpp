#pragma once

// reduce and transform_reduce, from elements by number: how a range is cut into the leaves of a reduction, the value of one leaf, and the
// sum of all. Leaves depend only on the number of elements and on types. Called by ../../algorithm/reduce.hpp. Next: fixed_tree.hpp, which
// joins the values of the leaves.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/blocks_of.hpp"
#include "nopal/core/loop/fixed_tree.hpp"
#include "nopal/core/loop/made_of.hpp"
#include "nopal/core/loop/slow_values.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Operations whose operands may change places, on numbers: the only ones for which a leaf keeps several results at once.
template <class Op, class T>
inline constexpr bool commutes =
    std::is_arithmetic_v<T> &&
    (std::is_same_v<Op, std::plus<>> || std::is_same_v<Op, std::plus<T>> || std::is_same_v<Op, std::multiplies<>> ||
     std::is_same_v<Op, std::multiplies<T>> || std::is_same_v<Op, std::bit_and<>> || std::is_same_v<Op, std::bit_and<T>> ||
     std::is_same_v<Op, std::bit_or<>> || std::is_same_v<Op, std::bit_or<T>> || std::is_same_v<Op, std::bit_xor<>> ||
     std::is_same_v<Op, std::bit_xor<T>>);

/// True if values V give the same T in any grouping, by an operation that commutes. Whole numbers do, but not if they are converted to
/// bool.
template <class T, class V>
inline constexpr bool groups_at_will =
    std::is_integral_v<T> && std::is_integral_v<V> && (!std::is_same_v<T, bool> || std::is_same_v<V, bool>);

/// Elements of a leaf, in a range of `n`. At least 256 leaves if there are so many elements, since each element may take long, and so may
/// joining; some thousand in a long range.
constexpr std::uint64_t leaf_size(std::uint64_t n) noexcept {
  std::uint64_t root = 1;  // the power of two that is at most the square root of n, or half of it
  while (root * root * 4 <= n && root < (std::uint64_t{1} << 20)) root *= 2;
  constexpr std::uint64_t leaves = 256;
  std::uint64_t const few = root < n / leaves ? root : n / leaves;
  return few > 0 ? few : 1;
}
/// As leaf_size, if joining elements takes no more than some nanoseconds. `cheap`: the elements take no longer either. If not, their values
/// are computed in parallel: see slow_values.hpp. `at_will`: see groups_at_will; leaves may become longer once there are 256 of them.
constexpr std::uint64_t long_leaf_size(std::uint64_t n, bool cheap, bool at_will = false) noexcept {
  constexpr std::uint64_t least = 1024;
  constexpr std::uint64_t many = 4096;
  std::uint64_t const size = leaf_size(n);
  if (size >= many || cheap) return size < many ? many : size;
  if (at_will) return std::clamp(n / 256, least, many);
  return size < least ? least : size;
}

/// Reduces the elements from, ..., to - 1, at least one, from left to right. `each(k, use)` calls use(x) with element k, and returns what
/// that returns: an element may refer to an object that lives only as long as that call.
template <class T, class Op, class Each>
T fold(std::uint64_t from, std::uint64_t to, Op& op, Each& each) {
  T sum = each(from, [](auto&& x) { return core::made_of<T>(static_cast<decltype(x)>(x)); });
  for (std::uint64_t k = from + 1; k < to; ++k) {
    each(k, [&](auto&& x) { sum = core::joined<T>(op, std::move(sum), static_cast<decltype(x)>(x)); });
  }
  return sum;
}

/// The value as if it had been stored in memory: no operation that uses it is contracted with the one that has made it.
template <class V>
NOPAL_INLINE V rounded(V x) noexcept {
#if defined(__GNUC__) && !defined(__clang__)
  if constexpr (std::is_floating_point_v<V>) return __builtin_assoc_barrier(x);
#endif
  return x;
}

/// A sum so far of numbers in their order: from left to right, if there are few, or if they are whole and every grouping gives the same.
/// Otherwise in 16 lanes: lane j has every 16th number from the j-th on, and at the end the lanes are added in pairs. So the processor adds
/// several at once, with any vectors, and the order is always the same. `AtWill`: see groups_at_will.
template <class T, class Op, bool AtWill>
class sum_in_lanes {
 public:
  sum_in_lanes(std::uint64_t from, std::uint64_t to, Op& op) noexcept
      : op_{op}, from_{from}, in_lanes_{std::is_floating_point_v<T> && to - from >= 2 * lanes} {}

  template <class Each>
  void add(std::uint64_t from, std::uint64_t to, Each& each) {
    if constexpr (std::is_floating_point_v<T>) {
      if (in_lanes_) return add_in_lanes(from, to, each);
    }
    add_in_a_row(from, to, each);
  }
  T end() {
    if (!in_lanes_) return sums_[0];
    std::array<T, lanes> sums = sums_;
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t j = 0; j < half; ++j) sums[j] = static_cast<T>(op_(sums[j], sums[j + half]));
    }
    return sums[0];
  }

 private:
  static constexpr std::size_t lanes = 16;

  template <class Each>
  [[gnu::noinline]] void add_in_a_row(std::uint64_t from, std::uint64_t to, Each& each) {
    if (from == from_) each(from++, [&](auto&& x) { sums_[0] = static_cast<T>(rounded(x)); });
    T sum = sums_[0];
    // If the grouping does not matter, a compiler makes several sums at once.
#if defined(__clang__)
#pragma clang loop interleave_count(8)
#else
    if constexpr (AtWill) {
      auto const value = [](auto&& x) { return static_cast<T>(x); };
      for (; to - from >= 4; from += 4) {
        T const a = each(from, value);
        T const b = each(from + 1, value);
        T const c = each(from + 2, value);
        T const d = each(from + 3, value);
        sum = static_cast<T>(op_(sum, static_cast<T>(op_(static_cast<T>(op_(a, b)), static_cast<T>(op_(c, d))))));
      }
    }
#endif
    for (; from < to; ++from) each(from, [&](auto&& x) { sum = static_cast<T>(op_(sum, rounded(x))); });
    sums_[0] = sum;
  }
  template <class Each>
  [[gnu::noinline]] void add_in_lanes(std::uint64_t from, std::uint64_t to, Each& each) {
    std::uint64_t k = from;
    std::array<T, lanes> sums;  // with constant indices only, so that it stays in registers
    if (k == from_ && to - k >= lanes) {
      for (std::size_t j = 0; j < lanes; ++j) sums[j] = each(k + j, [](auto&& x) { return static_cast<T>(rounded(x)); });
      k += lanes;
    } else {
      if ((k - from_) % lanes != 0 || k == from_) k = add_one_by_one(k, std::min(to, from_ + ((k - from_) / lanes + 1) * lanes), each);
      sums = sums_;
    }
    for (; k + lanes <= to; k += lanes) {
      // GCC needs to be told so at -O2: else the sums are in memory, and such a leaf takes two to three times as long.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 16
#endif
      for (std::size_t j = 0; j < lanes; ++j) {
        each(k + j, [&](auto&& x) { sums[j] = static_cast<T>(op_(sums[j], rounded(x))); });
      }
    }
    sums_ = sums;
    add_one_by_one(k, to, each);
  }
  template <class Each>
  std::uint64_t add_one_by_one(std::uint64_t k, std::uint64_t to, Each& each) {
    for (; k < to; ++k) {
      T& sum = sums_[(k - from_) % lanes];
      each(k, [&](auto&& x) { sum = k - from_ < lanes ? static_cast<T>(rounded(x)) : static_cast<T>(op_(sum, rounded(x))); });
    }
    return k;
  }

  Op& op_;
  std::uint64_t const from_;
  bool const in_lanes_;
  std::array<T, lanes> sums_;
};

/// The value of one leaf. A function of its own: with two copies of the code a compiler might contract one to fused operations and not the
/// other.
template <class T, class Op, class Each>
[[gnu::noinline]] T reduce_leaf(std::uint64_t from, std::uint64_t to, Op& op, Each& each) {
  return core::fold<T>(from, to, op, each);
}

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

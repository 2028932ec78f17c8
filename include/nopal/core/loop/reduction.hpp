#pragma once

// A reduction over leaves whose tree depends on their number only: so its result has the same bits on any number of workers, for any
// steals. Called by ../../algorithm/reduce.hpp. README.md, "Reductions". Next: offer.hpp; pace.hpp.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "nopal/algorithm/grain.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/loop.hpp"
#include "nopal/core/loop/made_of.hpp"
#include "nopal/core/loop/offer.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/loop/slow_values.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/eventually.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The costs of a tree's elements are remembered by this type.
template <class Site>
struct tree_of {};

/// `Leaf`: T leaf(k), for k from 0. `Join`: T join(T&& left, T&& right). Both are called on many workers at once, but only once for each
/// leaf and each inner node of the tree.
template <class T, class Leaf, class Join>
class fixed_tree {
 public:
  /// `leaves`: at least 1. `size`: elements of a leaf. `cost`: what an element has cost so far.
  fixed_tree(std::uint64_t leaves, std::uint64_t size, Leaf& leaf, Join& join, iteration_cost& cost) noexcept
      : leaf_{leaf}, join_{join}, cost_{cost}, leaves_{leaves}, size_{size}, end_{leaves} {}

  /// By any thread. Throws what serial execution would have thrown first.
  T run() {
    if (begins_inside()) [[unlikely]] {
      eventually<T> result;
      run_in_default_pool([&] { result.emplace(run()); });
      return std::move(*result);
    }
    if (shares_by_schedule()) {
      forked_from_ = std::max<std::uint64_t>(2, leaves_ / (4 * loop_tuning::blocks_by_schedule));
      return share(0, leaves_, loop_tuning::worth_a_wake());
    }
    let_due_run_between_blocks();
    if (leaves_ == 1) return leaf_(0);
    std::uint64_t few = leaves_;
    while (few > 3) few = middle(0, few);
    double const known = cost_.ticks() * static_cast<double>(size_);
    if (double const all = known * static_cast<double>(leaves_); known * static_cast<double>(few) >= loop_tuning::worth_values() &&
                                                                 all >= loop_tuning::worth_a_wake() &&
                                                                 worth_sharing(loop_tuning::long_enough(), all)) {
      reckon(known);
      return share(0, leaves_, all);
    }
    began_ = loop_ticks();
    first_.emplace(serial(0, few));  // shows what leaves and joins cost, or whether the known cost still holds
    few_ = few;
    auto const took = static_cast<double>(loop_ticks() - began_);
    reckon(took / static_cast<double>(few));
    if (double const rest = took / static_cast<double>(few) * static_cast<double>(leaves_ - few); worth_sharing(took, rest)) {
      cost_.learn(took / static_cast<double>(few * size_));
      return share(0, leaves_, rest);
    }
    T all = alone(0, leaves_);
    auto const all_took = static_cast<double>(loop_ticks() - began_);
    cost_.learn(all_took / static_cast<double>(size_) / static_cast<double>(leaves_));
    if (all_took >= loop_tuning::worth_a_steal()) ended_alone(began_);
    return static_cast<T&&>(all);  // GCC 12 would prefer a T(T&)
  }

 private:
  // Ends a part that comes after one that has thrown: its own result is dropped.
  struct not_needed {};

  static std::uint64_t middle(std::uint64_t from, std::uint64_t to) noexcept { return from + (to - from) / 2; }

  bool is_first(std::uint64_t from, std::uint64_t to) const noexcept { return to == few_ && from == 0; }
  // A leaf costs so many ticks. Each part that takes two microseconds or more is a fork: a thief that requests work during the earliest
  // leaves could not have what is behind the part that they are in.
  void reckon(double per_leaf) noexcept {
    constexpr double most = 1 << 30;
    double const leaves = per_leaf * most > loop_tuning::worth_a_steal() ? loop_tuning::worth_a_steal() / per_leaf : most;
    forked_from_ = std::max<std::uint64_t>(2, static_cast<std::uint64_t>(leaves));
    between_looks_ = std::clamp<std::uint64_t>(2 * forked_from_, 2, most_between_looks);
  }

  T one(std::uint64_t k) {
    if (k >= end_.load(std::memory_order_relaxed)) throw not_needed{};  // relaxed: it only saves work
    try {
      throw_if_stopped();
      return leaf_(k);
    } catch (...) {
      throws_at(k);
      throw;
    }
  }
  T both(T&& left, T&& right, std::uint64_t last) {
    try {
      return join_(std::move(left), std::move(right));
    } catch (...) {
      throws_at(last);
      throw;
    }
  }
  // Leaves after `k` begin no more.
  NOPAL_COLD void throws_at(std::uint64_t k) noexcept {
    std::uint64_t end = end_.load(std::memory_order_relaxed);  // relaxed: as in one
    while (k + 1 < end && !end_.compare_exchange_weak(end, k + 1, std::memory_order_relaxed)) {
    }
  }

  // By the thread that began, nothing of the tree is offered. When it turns out long, the rest is shared.
  T alone(std::uint64_t from, std::uint64_t to) {
    if (to - from == 1) return one(from);
    if (is_first(from, to)) return std::move(*first_);
    std::uint64_t const half = middle(from, to);
    T left = alone(from, half);
    if (to - from >= between_looks_) {
      let_due_run_between_blocks();
      double const elapsed = static_cast<double>(loop_ticks() - began_);
      double const rest = elapsed / static_cast<double>(half) * static_cast<double>(to - half);
      if (worth_sharing(elapsed, rest)) return both(std::move(left), share(half, to, rest), to - 1);
    }
    return both(std::move(left), alone(half, to), to - 1);
  }

  // Runs a part on a worker: this one, or one of the default pool if that is worth it.
  T share(std::uint64_t from, std::uint64_t to, double rest) {
    if (current_or_null() != nullptr) {
      wake_for(rest);
      return split(from, to);
    }
    struct whole_tree {
      fixed_tree& self;
      std::uint64_t from, to;
      double rest;
      eventually<T> result;
    } whole{*this, from, to, rest, {}};
    auto const run = [](void* arg) {
      auto& j = *static_cast<whole_tree*>(arg);
      j.result.emplace(j.self.share(j.from, j.to, j.rest));
    };
    if (!enter_default_pool(run, &whole, rest)) return alone(from, to);
    return std::move(*whole.result);
  }

  // On a worker: offers the later half while the earlier one runs.
  T split(std::uint64_t from, std::uint64_t to) {
    if (to - from == 1) return one(from);
    if (is_first(from, to)) return std::move(*first_);
    std::uint64_t const half = middle(from, to);
    eventually<T> left;
    later_half later{*this, half, to};
    switch (run_while_offered(later, [&] { left.emplace(half - from >= forked_from_ ? split(from, half) : below_offer(from, half)); })) {
      case offered::refused: return serial(from, to);
      case offered::taken_back: return both(std::move(*left), split(half, to), to - 1);
      case offered::ended: break;
    }
    return both(std::move(*left), std::move(*later.result), to - 1);
  }

  // On a worker, with something offered: runs without a fork until a thief requests more.
  T below_offer(std::uint64_t from, std::uint64_t to) {
    if (to - from == 1) return one(from);
    if (is_first(from, to)) return std::move(*first_);
    std::uint64_t const half = middle(from, to);
    T left = below_offer(from, half);
    return both(std::move(left), between_blocks(*current()) ? split(half, to) : below_offer(half, to), to - 1);
  }

  T serial(std::uint64_t from, std::uint64_t to) {
    if (to - from == 1) return one(from);
    if (is_first(from, to)) return std::move(*first_);
    std::uint64_t const half = middle(from, to);
    T left = serial(from, half);
    let_due_run_between_blocks();
    return both(std::move(left), serial(half, to), to - 1);
  }

  // The later half of a part, in the frame of the strand that runs the earlier one.
  struct later_half : branch {
    later_half(fixed_tree& t, std::uint64_t first, std::uint64_t last) noexcept : branch{run_stolen}, tree{t}, from{first}, to{last} {}
    NOPAL_COLD static void run_stolen(resumable& r, worker& w) noexcept {
      run_stolen_branch(w, static_cast<later_half&>(r), [](branch& b) {
        auto& self = static_cast<later_half&>(b);
        self.result.emplace(self.tree.split(self.from, self.to));
      });
    }
    fixed_tree& tree;
    std::uint64_t const from, to;
    eventually<T> result;
  };

  static constexpr std::uint64_t most_between_looks = 64;

  Leaf& leaf_;
  Join& join_;
  iteration_cost& cost_;
  std::uint64_t const leaves_;
  std::uint64_t const size_;
  std::uint64_t forked_from_ = 2;    ///< parts of so many leaves are worth a fork
  std::uint64_t between_looks_ = 2;  ///< or, if nothing is offered, a look at the clock in their middle
  eventually<T> first_;              ///< the value of the first leaves, once they have been computed before the others
  std::uint64_t few_ = 0;            ///< their number
  std::uint64_t began_ = 0;
  /// Leaves from here on begin no more, since something before them has thrown.
  std::atomic<std::uint64_t> end_;
};

// reduce and transform_reduce, from elements by number: how a range is cut into the leaves of a reduction, the value of one leaf, and the
// sum of all. Leaves depend only on the number of elements and on types. Called by ../../algorithm/reduce.hpp. Next: the tree above, which
// joins the values of the leaves.

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

#pragma once

// A reduction over leaves whose tree depends on their number only: so its result has the same bits on any number of workers, for any
// steals. Called by ../../algorithm/reduce.hpp. README.md, "Reductions". Next: offer.hpp; sharing.hpp.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/offer.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/loop/sharing.hpp"
#include "nopal/core/stack/branch.hpp"
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

}  // namespace nopal::core

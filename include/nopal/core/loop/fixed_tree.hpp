#pragma once

// A reduction over leaves whose tree depends on their number only: so its result has the same bits on any number of workers, whatever is
// stolen. Called by ../../algorithm/reduce.hpp and transform_reduce.hpp. README.md, "Reductions". Next: offer.hpp; sharing.hpp.

#include <atomic>
#include <cstdint>
#include <utility>

#include "nopal/core/architecture/clock_ticks.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/loop/between_blocks.hpp"
#include "nopal/core/loop/enter.hpp"
#include "nopal/core/loop/loop_tuning.hpp"
#include "nopal/core/loop/offer.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/loop/sharing.hpp"
#include "nopal/core/stack/branch.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/eventually.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// `Leaf`: T leaf(k), for k from 0. `Join`: T join(T&& left, T&& right). Both are called on many workers at once, but each once only for
/// each leaf and each inner node of the tree.
template <class T, class Leaf, class Join>
class fixed_tree {
 public:
  /// `leaves`: at least 1. `cost`: what a leaf has cost so far.
  fixed_tree(std::uint64_t leaves, Leaf& leaf, Join& join, iteration_cost& cost) noexcept
      : leaf_{leaf}, join_{join}, cost_{cost}, leaves_{leaves}, end_{leaves} {}

  /// By any thread. Throws what serial execution would have thrown first.
  T run() {
    if (shares_by_schedule()) return share(0, leaves_, loop_tuning::worth_a_wake());
    if (leaves_ == 1) return leaf_(0);
    double const known = cost_.ticks() * static_cast<double>(leaves_);
    if (known >= loop_tuning::worth_a_wake() && worth_sharing(loop_tuning::long_enough(), known)) return share(0, leaves_, known);
    began_ = clock_ticks();
    T all = alone(0, leaves_);
    auto const took = static_cast<double>(clock_ticks() - began_);
    cost_.learn(took / static_cast<double>(leaves_));
    if (took >= loop_tuning::worth_a_steal()) ended_alone(began_);
    return all;
  }

 private:
  // What a part ends with that comes after one that has thrown: its own result is dropped.
  struct not_needed {};

  static std::uint64_t middle(std::uint64_t from, std::uint64_t to) noexcept { return from + (to - from) / 2; }

  T one(std::uint64_t k) {
    if (k >= end_.load(std::memory_order_relaxed)) throw not_needed{};  // relaxed: it only spares work
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
  // Leaves after `k` are not begun any more.
  NOPAL_COLD void throws_at(std::uint64_t k) noexcept {
    std::uint64_t end = end_.load(std::memory_order_relaxed);  // relaxed: as in one
    while (k + 1 < end && !end_.compare_exchange_weak(end, k + 1, std::memory_order_relaxed)) {
    }
  }

  // By the thread that began, nothing of the tree is offered. What turns out long is shared from there on.
  T alone(std::uint64_t from, std::uint64_t to) {
    if (to - from == 1) return one(from);
    std::uint64_t const half = middle(from, to);
    T left = alone(from, half);
    if (to - from >= leaves_between_looks) {
      double const elapsed = static_cast<double>(clock_ticks() - began_);
      double const rest = elapsed / static_cast<double>(half) * static_cast<double>(to - half);
      if (worth_sharing(elapsed, rest)) return both(std::move(left), share(half, to, rest), to - 1);
    }
    return both(std::move(left), alone(half, to), to - 1);
  }

  // Runs a part on a worker: this one, or one of the default pool if that is worth it.
  T share(std::uint64_t from, std::uint64_t to, double rest) {
    if (current_or_null() != nullptr) return split(from, to);
    struct job {
      fixed_tree& self;
      std::uint64_t from, to;
      eventually<T> result;
    } whole{*this, from, to, {}};
    auto const run = [](void* arg) {
      auto& j = *static_cast<job*>(arg);
      j.result.emplace(j.self.split(j.from, j.to));
    };
    if (!enter_default_pool(run, &whole, rest)) return alone(from, to);
    return std::move(*whole.result);
  }

  // On a worker: offers the later half while the earlier one runs.
  T split(std::uint64_t from, std::uint64_t to) {
    if (to - from == 1) return one(from);
    std::uint64_t const half = middle(from, to);
    eventually<T> left;
    later_half later{*this, half, to};
    switch (run_while_offered(later, [&] { left.emplace(below_offer(from, half)); })) {
      case offered::refused: return serial(from, to);
      case offered::taken_back: return both(std::move(*left), split(half, to), to - 1);
      case offered::ended: break;
    }
    return both(std::move(*left), std::move(*later.result), to - 1);
  }

  // On a worker, with something offered: runs without a fork until a thief asks for more.
  T below_offer(std::uint64_t from, std::uint64_t to) {
    if (to - from == 1) return one(from);
    std::uint64_t const half = middle(from, to);
    T left = below_offer(from, half);
    return both(std::move(left), between_blocks(*current()) ? split(half, to) : below_offer(half, to), to - 1);
  }

  T serial(std::uint64_t from, std::uint64_t to) {
    if (to - from == 1) return one(from);
    std::uint64_t const half = middle(from, to);
    T left = serial(from, half);
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

  static constexpr std::uint64_t leaves_between_looks = 16;

  Leaf& leaf_;
  Join& join_;
  iteration_cost& cost_;
  std::uint64_t const leaves_;
  std::uint64_t began_ = 0;
  /// Leaves from here on are not begun any more, since something before them has thrown.
  std::atomic<std::uint64_t> end_;
};

}  // namespace nopal::core

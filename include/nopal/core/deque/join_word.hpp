#pragma once

// The join word: the split counter of Nowa, wait-free, one read-modify-write a side. A child that lost its parent arrives at it; the parent
// announces itself at its join. Next: ../task/frame.hpp, ../stack/native_fork.hpp and ../stack/scope_child.hpp, which have one.

#include <cstdint>
#include <exception>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Counts the children of one fork-join scope that lost their parent to a thief, and guards the exception that the scope keeps.
///
///     | modes: 24 bits | count: 38 bits, signed | recorded: value 2 | locked: value 1 |
///
/// Invariant: the count is (steals announced by the parent's join) - (children arrived). The parent announces once. Before that the count
/// is at most 0 and no arrival can bring it from 1 to 0; afterwards exactly one arrival can. Hence exactly one of {the parent, the last
/// child} sees the scope complete. Proof: README.md, "Join". 2^37 steals of one scope do not wrap it.
/// `modes` sums the digests of control words: plus those in which thieves have resumed the parent, minus those in which the children that
/// lost it have ended. In a complete scope it is 0 if each thief had the mode that serial execution would have had: modes_agree. While the
/// count is below 0, `modes` reads 1 too low.
template <class Sync = std_sync>
class basic_join_word {
 public:
  /// A child whose parent was stolen has ended. True: the parent waits at its join and this was the last child; the caller now owns the
  /// parent.
  ///
  /// acq_rel: release, so that the one that completes the scope sees this child's results; acquire, so that the last child, whose worker
  /// resumes the parent, sees those of the others. Pairs with every other arrive and with announce.
  bool arrive(std::uint64_t digest = 0) noexcept { return count(word_.fetch_sub(one + in_place(digest), std::memory_order_acq_rel)) == 1; }

  /// The parent is at its join, after `steals` steals. True: all children have arrived and it continues. False: the last child resumes it,
  /// maybe at once. `digests`: the sum of the steals' digests. acq_rel as in arrive; release: the parent's own frame, for the last child.
  bool announce(std::int64_t steals, std::uint64_t digests = 0) noexcept {
    return count(word_.fetch_add(steals * one + in_place(digests), std::memory_order_acq_rel)) == -steals;
  }

  /// True if `steals` children have arrived before the parent has announced. Then it need not announce. acquire: pairs with arrive.
  bool complete(std::int64_t steals) const noexcept { return count(word_.load(std::memory_order_acquire)) == -steals; }

  /// True if each thief of the parent had the mode in which the child it took the parent from has ended. By the sole owner of a complete
  /// scope that was announced. relaxed: arrive or announce has acquired it.
  bool modes_agree() const noexcept { return (word_.load(std::memory_order_relaxed) >> shift) == 0; }

  /// Asks the child with the later part of the work to stop, since its result will be dropped. For a branch, whose `modes` are 0. By its
  /// owner, before it waits. relaxed, also in is_asked: a hint that hands nothing over.
  void ask() noexcept { word_.fetch_or(asked, std::memory_order_relaxed); }
  /// By the thief that runs the branch, or by what the branch has forked.
  bool is_asked() const noexcept { return (word_.load(std::memory_order_relaxed) & asked) != 0; }

  /// True if an exception was recorded. By the sole owner of a complete scope. relaxed: arrive or announce has acquired it.
  bool due() noexcept { return (word_.load(std::memory_order_relaxed) & recorded) != 0; }

  /// Starts the next scope. True: an exception was recorded in this one. By the sole owner of a complete scope.
  /// relaxed: all that was recorded reached the owner through arrive or announce, and the deque publishes the next scope.
  bool reset() noexcept {
    bool const was_due = due();
    word_.store(0, std::memory_order_relaxed);
    return was_due;
  }

  /// Starts the next scope with what was recorded in this one, if something was. By the sole owner of a complete scope. relaxed: as reset.
  void keep_recorded() noexcept { word_.store(recorded, std::memory_order_relaxed); }

  /// Calls `f(recorded before?)`, one caller at a time, and marks the scope as recorded. Before the caller arrives. Exceptions are rare,
  /// so a second caller spins at first.
  template <class F>
  void record(F&& f) noexcept {
    // acquire, within: pairs with the release below, by the recorder before
    std::int64_t const w = lock_bit<Sync>(word_, locked);
    f((w & recorded) != 0);
    word_.fetch_or(recorded, std::memory_order_relaxed);  // relaxed: the release below and arrive publish it
    word_.fetch_and(~locked, std::memory_order_release);  // release: pairs with the acquire above, by the next recorder
  }

  /// Calls f() if something was recorded in this scope, while no other thread records. By a child that has not arrived. relaxed: a hint;
  /// the lock orders what was recorded.
  template <class F>
  void look_if_recorded(F&& f) noexcept {
    if ((word_.load(std::memory_order_relaxed) & recorded) == 0) return;
    lock_bit<Sync>(word_, locked);  // as in record
    f();
    word_.fetch_and(~locked, std::memory_order_release);  // release: pairs with lock_bit, in record
  }

 private:
  static constexpr std::int64_t locked = 1;
  static constexpr std::int64_t recorded = 2;
  static constexpr int shift = 2;
  static constexpr std::int64_t one = 1 << shift;
  static constexpr int modes_shift = 40;
  static constexpr std::int64_t asked = std::int64_t{1} << 62;  // in the modes of a branch, whose arrivals and announcement add none

  // The sign is the bit below the modes.
  static std::int64_t count(std::int64_t word) noexcept {
    constexpr int above = 64 - modes_shift;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(word) << above) >> (above + shift);
  }
  static std::int64_t in_place(std::uint64_t digest) noexcept { return static_cast<std::int64_t>(digest << modes_shift); }

  typename Sync::template atomic<std::int64_t> word_{0};
};

using join_word = basic_join_word<>;

// The exception that a fork-join scope keeps for its join: of all that its children throw, the first that serial execution would have met.
// Why the order is right: README.md, "Exceptions in serial order". Next: ../task/frame.hpp and ../stack/scope_child.hpp, which have one.

/// Undefined until the join word says "recorded". All accesses are under that word's lock, or by the sole owner of a complete scope.
struct kept_exception {
  void* first;         ///< the one pointer inside std::exception_ptr
  std::uint64_t when;  ///< its epoch: how often the parent had been stolen when it forked that child

  /// Keeps `e` if serial execution would have met it before the exception kept so far. `stolen`: the epoch of the child that threw it.
  /// Epochs are in serial order. Within one epoch children run one after the other, so the first recorded is the first in order. Any number
  /// of children's workers may call this at once, each before it arrives.
  NOPAL_COLD void record(join_word& join, std::uint64_t stolen, std::exception_ptr e) noexcept;
  /// Takes what was recorded, and starts the next scope of the join word. By the sole owner, and only if something was recorded.
  NOPAL_COLD std::exception_ptr take(join_word& join) noexcept;
  /// Returns what was recorded and keeps it, as the earliest of the next scope. Otherwise as take.
  NOPAL_COLD std::exception_ptr look(join_word& join) noexcept;
};

}  // namespace nopal::core

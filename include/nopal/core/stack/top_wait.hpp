#pragma once

// A wait on top of a stack: the stack stays, and its thread does not leave it, or leaves it late. Two sides touch it: the waiter, and the
// waker, which makes the event happen. Next: home.hpp, what the waiter runs until then. Proof: stays.md.

#include <cstdint>

#include "nopal/core/base/sync.hpp"

namespace nopal::inline NOPAL_ABI::core {

struct pool_state;
class stack;

/// The word between the two sides. It is in the waiting frame.
template <class Sync = std_sync>
class basic_top_wait {
 public:
  /// By the waker, once; afterwards this may be gone. True: the stack has been left, and the caller owns it. acq_rel and more: release, for
  /// what the waiter waited for; acquire: pairs with leave. seq_cst: before the read of the waiter's state in parking.call.
  bool happens() noexcept { return word_.exchange(happened_, std::memory_order_seq_cst) == left_; }
  /// By the waiter. seq_cst, of which acquire pairs with happens: after the store of its state in parking.doze.
  bool has_happened() const noexcept { return word_.load(std::memory_order_seq_cst) == happened_; }
  /// By the waiter, which has left its stack. False: the event has happened, and the waker does not know that the stack was left. release:
  /// pairs with happens, for the stack. acquire, where it fails: pairs with happens, as has_happened.
  bool leave() noexcept {
    std::uint32_t w = waits_;
    return word_.compare_exchange_strong(w, left_, std::memory_order_release, std::memory_order_acquire);
  }

 private:
  static constexpr std::uint32_t waits_ = 0, left_ = 1, happened_ = 2;
  typename Sync::template atomic<std::uint32_t> word_{waits_};
};

/// The one that ships.
class top_wait : public basic_top_wait<> {
 public:
  /// On the stack that runs on worker `i`. `j`: the join word or the job that is waited for; null: something else.
  top_wait(stack& s, pool_state& p, unsigned i, void const* j) noexcept : join{j}, stack_{s}, pool_{p}, worker_{i} {}

  /// The event has happened: tells the waiter's thread, or sends its stack home. Once, by any thread; afterwards this may be gone.
  void resume() noexcept;

  void const* const join;
  // While the stack is left; by its thread.
  top_wait* older = nullptr;   ///< in the list search_state::left
  bool runs_anything = false;  ///< all other workers waited like this

 private:
  stack& stack_;
  pool_state& pool_;
  unsigned const worker_;
};

// A join that all entries of a worker's deque descend from. A thread that waits on top of its stack takes nothing else:
// ../stack/home.hpp. The owner writes it where a strand begins and ends; a thief pins it while it takes an entry. Proof:
// ../stack/stays.md, "What descends".

///     | address of a join word or a job, or 0: none is known | pinned 1 |
template <class Sync = std_sync>
class basic_descent {
 public:
  // ---- The owner.
  /// relaxed: only the owner writes the address.
  void const* get() const noexcept { return to_pointer(word_.load(std::memory_order_relaxed)); }
  /// While the deque is empty, or with null. Waits until no thief has it pinned: as long as one theft takes.
  void set(void const* join) noexcept {
    std::uintptr_t known = word_.load(std::memory_order_relaxed) & ~pinned;  // relaxed: as get
    auto const to = reinterpret_cast<std::uintptr_t>(join);
    if (known == to) return;
    // release: pairs with pin, for the deque, empty or with nothing in it that does not descend from `join`. acquire: pairs with unpin; a
    // thief that had pinned the old join takes nothing that the owner pushes from now on. relaxed where it fails: it is tried again.
    for (int round = 0; !word_.compare_exchange_weak(known, to, std::memory_order_acq_rel, std::memory_order_relaxed); ++round) {
      known &= ~pinned;
      Sync::give_way(round);
    }
  }

  // ---- Thieves: any thread.
  /// The join, a moment ago. relaxed: a hint, for pin.
  void const* look() const noexcept { return get(); }
  /// True if the join is `join` and no other thief has it pinned. It stays so until unpin. acquire: pairs with set.
  bool pin(void const* join) noexcept {
    auto known = reinterpret_cast<std::uintptr_t>(join);
    // relaxed: the exchange decides
    return word_.load(std::memory_order_relaxed) == known &&
           word_.compare_exchange_strong(known, known | pinned, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unpin() noexcept { word_.fetch_and(~pinned, std::memory_order_release); }  // release: pairs with set

 private:
  static constexpr std::uintptr_t pinned = 1;
  static void const* to_pointer(std::uintptr_t word) noexcept {
    return reinterpret_cast<void const*>(word & ~pinned);  // NOLINT(performance-no-int-to-ptr)
  }

  typename Sync::template atomic<std::uintptr_t> word_{0};
};

using descent = basic_descent<>;

}  // namespace nopal::core

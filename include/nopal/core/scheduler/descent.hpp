#pragma once

// A join that all entries of a worker's deque descend from. A thread that waits on top of its stack takes nothing else:
// ../stack/home.hpp. The owner writes it where a strand begins and ends; a thief pins it while it takes an entry. Proof:
// ../stack/stays.md, "What descends".

#include <cstdint>

#include "nopal/core/base/sync.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

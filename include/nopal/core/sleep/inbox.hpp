#pragma once

// The inbox: how work reaches a worker by another way than its deque. Any number of producers on any threads, no lock. A taker takes
// everything, so an idle thief may empty a busy worker's inbox. Next: parking.hpp, which wakes the taker; ../scheduler/submission.hpp,
// which uses both.

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/deque/continuation.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A stack of resumables that is always emptied at once. No node is read while another thread may take it, hence no ABA.
template <class Sync = std_sync>
class basic_inbox {
 public:
  /// From the exchange on, another thread may run `r`, and `r` may be gone. seq_cst: the push comes before the pusher's read of the parking
  /// states, in one order with a parker's store of its state and read of empty() (README.md, "Why no wake-up is lost"). It releases the job
  /// to take_all.
  void push(resumable* r) noexcept {
    resumable* head = head_.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
    do r->next = head;
    while (!head_.compare_exchange_weak(head, r, std::memory_order_seq_cst, std::memory_order_relaxed));
  }

  /// Takes everything, oldest first; null if there is nothing.
  resumable* take_all() noexcept {
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;    // relaxed: a hint; parkers ask empty()
    resumable* newest = head_.exchange(nullptr, std::memory_order_acquire);  // acquire: pairs with push
    resumable* oldest = nullptr;
    while (newest != nullptr) {
      resumable* const next = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = next;
    }
    return oldest;
  }

  /// The parker's last test before it sleeps. seq_cst: pairs with push.
  bool empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }

 private:
  alignas(destructive_size) typename Sync::template atomic<resumable*> head_{nullptr};
};

using inbox = basic_inbox<>;

}  // namespace nopal::core

#pragma once

// The inbox: how work reaches a worker from outside its deque. Any number of producers, no lock; whoever takes, takes all,
// so that an idle thief may empty a busy worker's inbox. Next: parking.hpp, which wakes the taker.

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/deque/resumable.hpp"

namespace nopal::core {

/// A stack of jobs that is only ever emptied at once: no node is read while another thread may pop it, hence no ABA.
template <class Sync = std_sync>
class basic_inbox {
 public:
  /// seq_cst: the push comes before the pusher's look at the parking states, in one order with a parker's look at empty()
  /// (README.md, "Parking"); it also releases the job.
  void push(resumable* r) noexcept {
    resumable* head = head_.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
    do r->next = head;
    while (!head_.compare_exchange_weak(head, r, std::memory_order_seq_cst, std::memory_order_relaxed));
  }

  /// Everything, oldest first; null if there is nothing.
  resumable* take_all() noexcept {
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;  // relaxed: a hint; the parker's test is empty()
    resumable* newest = head_.exchange(nullptr, std::memory_order_acquire);      // acquire: pairs with push
    resumable* oldest = nullptr;
    while (newest != nullptr) {
      resumable* const next = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = next;
    }
    return oldest;
  }

  /// seq_cst: the parker's last look, see push.
  bool empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }

 private:
  alignas(destructive_size) typename Sync::template atomic<resumable*> head_{nullptr};
};

using inbox = basic_inbox<>;

}  // namespace nopal::core

#pragma once

// A queue of what comes before or after all other work, the oldest first: stacks whose time limit has expired or whose event has come, work
// of high priority, work of low priority. A worker takes one at a time, so that all free workers share them and none waits behind other
// work. Below: the three. Next: due.hpp and priorities.hpp, which fill them; search.hpp, which empties them.

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/spin_lock.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// Any thread may call every member.
class due_queue {
 public:
  /// Another thread may run `r` at once, and `r` may be gone. seq_cst: the store of first_ comes before the pusher's read of the parking
  /// states, in one order with a parker's store of its state and read of empty(), as for an inbox (../sleep/README.md).
  void push(resumable& r) noexcept {
    r.next = nullptr;
    lock_.lock();
    if (resumable* const oldest = first_.load(std::memory_order_relaxed); oldest != nullptr) {  // relaxed: under the lock
      newest_->next = &r;
    } else {
      first_.store(&r, std::memory_order_seq_cst);
    }
    newest_ = &r;
    lock_.unlock();
  }
  /// The oldest; null if there is none.
  resumable* take() noexcept {
    if (looks_empty()) return nullptr;
    lock_.lock();
    resumable* const oldest = first_.load(std::memory_order_relaxed);  // relaxed, here and below: under the lock
    if (oldest != nullptr) first_.store(oldest->next, std::memory_order_relaxed);
    lock_.unlock();
    return oldest;
  }
  /// The parker's last test before it sleeps. seq_cst: pairs with push.
  bool empty() const noexcept { return first_.load(std::memory_order_seq_cst) == nullptr; }
  /// As empty, but a hint. relaxed: no partner.
  bool looks_empty() const noexcept { return first_.load(std::memory_order_relaxed) == nullptr; }

 private:
  alignas(destructive_size) std::atomic<resumable*> first_{nullptr};
  resumable* newest_ = nullptr;  // under the lock; undefined where first_ is null
  basic_spin_lock<std_sync> lock_;
};

/// Those of a pool; where nothing is stolen, of one worker.
struct queues {
  due_queue due;   ///< stacks whose time limit has expired, or whose event has come: due.hpp
  due_queue high;  ///< work of high priority
  due_queue low;   ///< work of low priority

  /// The parker's last test before it sleeps.
  bool empty() const noexcept { return due.empty() && high.empty() && low.empty(); }
};

}  // namespace nopal::core

#pragma once

// How many jobs are pending, for the end of the pool: two words, without a lock unless a thread waits for the end. Proof: README.md, "The
// end of a pool". Next: pool_state.hpp, which has it; submission.hpp, which waits.

#include <cstdint>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A thread that waits until nothing is pending: at the pool's end, or in shutdown.
template <class Sync>
struct pending_waiter {
  void (*wake)(pending_waiter&) noexcept;
  typename Sync::template plain<pending_waiter*> next{nullptr};
};

/// How many jobs were submitted and have not finished. Any thread.
template <class Sync = std_sync>
class basic_pending_work {
 public:
  using waiter = pending_waiter<Sync>;

  /// A job was submitted; or a thread outside the pool is about to wake one of its stacks, or to send it a task. In this order: the end
  /// reads `submitted_` first.
  void started() noexcept {
    pending_.fetch_add(one, std::memory_order_relaxed);  // relaxed: the next line releases it
    // seq_cst: pairs with none_since, as the look at the pool's threads that follows pairs with the end's store; release: pairs with
    // none_or_wake
    submitted_.fetch_add(1, std::memory_order_seq_cst);
  }
  /// Once for each started(). The pool may be gone afterwards.
  void finished() noexcept {
    std::uint64_t now = pending_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    do {
      if (now == (one | awaited)) [[unlikely]]
        return last_finished();
      // release: pairs with the reads of the end, for what has ended. relaxed where it fails: it is tried again
    } while (!pending_.compare_exchange_weak(now, now - one, std::memory_order_release, std::memory_order_relaxed));
  }
  /// True if nothing is pending. `submitted`: how much has been submitted so far. False: w.wake(w) will be called once, when nothing is
  /// pending, by a thread that accesses nothing of the pool any more.
  NOPAL_COLD bool none_or_wake(std::uint64_t& submitted, waiter& w) noexcept {
    holds_lock const guard{lock_};
    submitted = submitted_.load(std::memory_order_acquire);  // acquire: pairs with started, so that what is in the number is pending
    if (pending_.fetch_or(awaited, std::memory_order_acquire) < one) {  // acquire: pairs with finished, for what has ended
      if (waiters_ == nullptr) nobody_waits();
      return true;
    }
    w.next = waiters_;
    waiters_ = &w;
    return false;
  }
  /// Withdraws that: `w` will not be woken. False: it was, or is about to be.
  NOPAL_COLD bool do_not_wake(waiter& w) noexcept {
    holds_lock const guard{lock_};
    waiter* before = nullptr;
    for (waiter* at = waiters_; at != nullptr; before = at, at = at->next) {
      if (at != &w) continue;
      if (before != nullptr) {
        before->next = w.next;
      } else {
        waiters_ = w.next;
      }
      if (waiters_ == nullptr) nobody_waits();
      return true;
    }
    return false;
  }
  /// True if nothing has been submitted since none_or_wake returned true and gave this number. seq_cst: pairs with started.
  bool none_since(std::uint64_t submitted) const noexcept { return submitted_.load(std::memory_order_seq_cst) == submitted; }
  /// How many are pending. relaxed: for a message.
  std::uint64_t count() const noexcept { return pending_.load(std::memory_order_relaxed) / one; }

 private:
  using lock_type = basic_spin_lock<Sync>;
  struct holds_lock {
    lock_type& lock;
    explicit holds_lock(lock_type& l) noexcept : lock{l} { lock.lock(); }
    holds_lock(holds_lock const&) = delete;
    ~holds_lock() { lock.unlock(); }
  };

  // Under the lock. relaxed: the bit is set under the lock, and a thread that reads it too late takes the lock in vain.
  void nobody_waits() noexcept { pending_.fetch_and(~awaited, std::memory_order_relaxed); }

  // What this thread has finished is pending until it is counted here, so no thread has found an end before, and the pool is there. Under
  // the lock: the next thread that looks for the end finds it only after this thread has released the lock.
  NOPAL_COLD void last_finished() noexcept {
    waiter* w = nullptr;
    {
      holds_lock const guard{lock_};
      // relaxed: the waiter looks again, under the lock, and acquires there what this thread and, by their exchanges, others have released
      if (pending_.fetch_sub(one, std::memory_order_relaxed) >= 2 * one) return;  // something was submitted in between
      w = waiters_;
      waiters_ = nullptr;
      nobody_waits();
    }
    while (w != nullptr) {  // the last of them may end the pool now
      waiter& first = *w;
      w = w->next;
      first.wake(first);
    }
  }

  static constexpr std::uint64_t awaited = 1;  // some thread is in waiters_, or is about to be
  static constexpr std::uint64_t one = 2;

  template <class T>
  using atomic = typename Sync::template atomic<T>;
  alignas(destructive_size) atomic<std::uint64_t> pending_{0};  // how many, and `awaited`
  atomic<std::uint64_t> submitted_{0};                          // written by the same threads, after pending_
  alignas(destructive_size) lock_type lock_;
  typename Sync::template plain<waiter*> waiters_{nullptr};  // under the lock
};

/// The one that ships.
using pending_work = basic_pending_work<>;

}  // namespace nopal::core

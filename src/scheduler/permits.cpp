#include "nopal/core/scheduler/permits.hpp"

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::inline NOPAL_ABI::core {

// On the stack of the thread that waits.
struct permits::waiter {
  std::atomic<bool> const* stopping;  // of its pool
  waiter* next = nullptr;
  std::atomic<std::uint32_t> may_run{0};
};

unsigned permits::taken() const noexcept {
  std::lock_guard const guard{mutex_};
  return static_cast<unsigned>(static_cast<int>(all_) - free_);
}

void permits::take(worker& w, std::atomic<bool> const& stopping, bool (*must_not_wait)(worker& w)) noexcept {
  if (must_not_wait != nullptr && must_not_wait(w)) return take_anyway();
  waiter mine{&stopping};
  {
    std::lock_guard const guard{mutex_};
    // seq_cst: stored before let_in, which takes the mutex
    if ((free_ > 0 && first_ == nullptr) || stopping.load(std::memory_order_seq_cst)) {
      --free_;
      return;
    }
    (first_ == nullptr ? first_ : last_->next) = &mine;
    last_ = &mine;
    waiting_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a hint
  }
  while (mine.may_run.load(std::memory_order_acquire) == 0) {  // acquire: pairs with the store in let_in_first
    if (must_not_wait == nullptr) {
      std_sync::wait(mine.may_run, 0);
    } else {  // nobody who brings it a stack knows of this wait
      std_sync::wait_for(mine.may_run, 0, tuning::permit_slice);
      if (must_not_wait(w) && withdraw(mine)) return;
    }
  }
  std::lock_guard const guard{mutex_};  // who has let this thread in uses its waiter no more
}

// True: it waits no more, and has a permit anyway. False: it was let in.
bool permits::withdraw(waiter& w) noexcept {
  std::lock_guard const guard{mutex_};
  if (w.may_run.load(std::memory_order_relaxed) != 0) return false;  // relaxed: stored under the mutex
  waiter* before = nullptr;
  for (waiter* at = first_; at != &w; at = at->next) before = at;
  (before == nullptr ? first_ : before->next) = w.next;
  if (last_ == &w) last_ = before;
  waiting_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a hint
  --free_;
  return true;
}

void permits::take_anyway() noexcept {
  std::lock_guard const guard{mutex_};
  --free_;
}

void permits::give() noexcept {
  std::lock_guard const guard{mutex_};
  if (++free_ > 0 && first_ != nullptr) let_in_first();
}

// With the mutex.
void permits::let_in_first() noexcept {
  waiter& w = *first_;
  first_ = w.next;
  --free_;
  waiting_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a hint
  w.may_run.store(1, std::memory_order_release);     // release: pairs with the load in take
  std_sync::wake(w.may_run);
}

void permits::let_in(std::atomic<bool> const& stopping) noexcept {
  std::lock_guard const guard{mutex_};
  waiter* others = nullptr;
  waiter* last_of_others = nullptr;
  while (first_ != nullptr) {
    if (first_->stopping == &stopping) {
      let_in_first();
      continue;
    }
    waiter* const other = first_;
    first_ = other->next;
    other->next = nullptr;
    (others == nullptr ? others : last_of_others->next) = other;
    last_of_others = other;
  }
  first_ = others;
  last_ = last_of_others;
}

}  // namespace nopal::core

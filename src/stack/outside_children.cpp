// The list of a scope off a pool, its carrier, and its join. Two sides touch it: the scope's thread, and the one worker that runs the
// carrier.

#include "nopal/core/stack/outside_children.hpp"

#include <exception>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/external_caller.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/job_wait.hpp"
#include "nopal/core/wait/lock_bit.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

outside_children& outside_children::of(children& c, pool_state& (*pool)(), void (*begin_all)(outside_children&) noexcept) {
  stack* const here = state_here()->here;
  if (stack const* const own = (c.state & children::listed) != 0 ? c.stays_on : c.owner; own != here) {
    if (own == nullptr)
      die("a scope that was made off a pool forked on one: in one of its children, or in pool::run; make another scope there");
    die("a scope forked on another stack than its own: in one of its children, or in a task after a co_await; make another scope there");
  }
  if (c.state == 0) {
    c.outside = new outside_children{here, pool(), begin_all};
    c.outside->runs_in.region = no_region;  // the carrier's: children begin in regions of their own, which end before it may
    c.later = no_region;
    if (here != nullptr) {
      c.stays_on = std::exchange(c.owner, nullptr);
      c.state |= children::listed;
    }
    c.uncaught = std::uncaught_exceptions();
  }
  return *c.outside;
}

void outside_children::lock() noexcept { lock_bit<std_sync>(word_, locked); }
// release: the list; pairs with the acquire of lock_bit by the next thread that locks. While the lock is held only lock_bit writes the
// word, and sets a bit that is set.
void outside_children::unlock(std::uint32_t kept) noexcept { word_.fetch_and(kept, std::memory_order_release); }

void outside_children::add(outside_child& c) noexcept {
  c.of.state += children::one_steal;
  lock();
  c.older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = &c;
  newest_ = &c;
  bool const must_start = (word_.fetch_or(carried, std::memory_order_relaxed) & carried) == 0;  // relaxed: under the lock
  unlock(~locked);
  if (!must_start) return;
  if (made_on_ == nullptr) return spawn_from_outside(pool_, *this);
  spawn_again(*current(), *this);
}

// A worker has found the carrier in an inbox or a ring. The scope's thread may add children, take some, or have joined. The carrier is put
// into the ring before the child begins: so another worker can take the next child, or this worker does if the child waits.
void outside_children::carry(resumable& r, worker& w) noexcept {
  auto& self = static_cast<outside_children&>(r);
  self.lock();
  outside_child* const c = self.oldest_;
  if (c != nullptr) {
    self.oldest_ = c->newer;
    (self.oldest_ != nullptr ? self.oldest_->older : self.newest_) = nullptr;
  }
  if (self.oldest_ != nullptr) {
    self.unlock(~locked);
    spawn_again(w, self);
  } else if ((self.word_.load(std::memory_order_relaxed) & left) != 0) {  // relaxed: under the lock
    delete &self;
  } else {
    self.unlock(~(locked | carried));  // the last touch: the scope's thread may free the list
  }
  if (c != nullptr) {
    tell::strand_begins(w, strand_kind::child, c->run);
    w.begin_job();
    w.values = nullptr;  // a child brings its own
    w.begin_child_of(&c->of.join);
    c->run(*c);
    current()->end_job();
  }
  current()->count.add(counted::fibers_finished, std::memory_order_release);  // release: pairs with the loads of wait_for_all
}

outside_child* outside_children::take_newest() noexcept {
  lock();
  outside_child* const c = newest_;
  if (c != nullptr) {
    newest_ = c->older;
    (newest_ != nullptr ? newest_->newer : oldest_) = nullptr;
  }
  unlock(~locked);
  return c;
}

// The scope's thread joins, and children may be in the list. If no worker sleeps, all of them run or search: one of them will take the
// carrier.
void outside_children::help() noexcept {
  if (made_on_ != nullptr) {
    while (outside_child* const c = take_newest()) c->run(*c);
    return;
  }
  lock();
  bool const some = newest_ != nullptr;
  unlock(~locked);
  if (!some) return;
  struct helping final : job {
    outside_children& all;
    event done;
    explicit helping(outside_children& of) noexcept : all{of} {
      start = [](job& r) {
        current()->begin_without_tasks();
        outside_children& o = static_cast<helping&>(r).all;
        o.begin_all_(o);
      };
      finish = [](job& r) noexcept { static_cast<helping&>(r).done.set(); };
      pool = &of.pool_;
    }
  } r{*this};
  run_if_one_sleeps(pool_, r, r.done);
}

// By the scope's thread: workers may run children, and one of them the carrier.
void outside_children::join(children& c) noexcept {
  auto const forked = static_cast<std::int64_t>(c.steals());
  if (!c.join.complete(forked)) {
    pool_.needs_threads();  // in the child of a fork no worker runs them
    help();
    event done;
    c.done = &done;
    if (!c.join.announce(forked)) {
      waits_for const why{"the children of a scope", nullptr, wait_kind::join};
      if (made_on_ != nullptr) {
        wait_on_worker(*current(), done, why, &c.join);
      } else {
        sleep_until_set(done, why);
      }
    }
  }
  if (made_on_ == nullptr) thread_lent_its_values();
  c.owner = made_on_;
  leave();
}

// All children have ended, and the list is empty. Only the carrier may still touch it.
void outside_children::leave() noexcept {
  lock();
  if ((word_.load(std::memory_order_relaxed) & carried) == 0) {  // relaxed: under the lock
    delete this;
  } else {
    word_.fetch_or(left, std::memory_order_relaxed);  // relaxed: under the lock
    unlock(~locked);                                  // the last touch: the carrier may free it
  }
}

}  // namespace nopal::core

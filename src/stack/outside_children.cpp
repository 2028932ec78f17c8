#include "nopal/core/stack/outside_children.hpp"

#include <exception>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/external_caller.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/lock_bit.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

namespace nopal::core {

outside_children& outside_children::of(children& c, pool_state& (*pool)(), void (*begin_all)(outside_children&)) {
  if (state_here()->here != nullptr) {
    die("a scope that was made off a pool forked on one: in one of its children, or in pool::run; make another scope there");
  }
  if (c.state == 0) {
    c.outside = new outside_children{pool(), begin_all};
    c.uncaught = std::uncaught_exceptions();
  }
  return *c.outside;
}

void outside_children::lock() noexcept { lock_bit<std_sync>(word_, locked); }
// release: the list, for the next who locks; pairs with lock_bit, which alone may write the word meanwhile, and sets what is set.
void outside_children::unlock(std::uint32_t kept) noexcept { word_.fetch_and(kept, std::memory_order_release); }

void outside_children::add(outside_child& c) noexcept {
  c.of.state += children::one_steal;
  lock();
  c.older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = &c;
  newest_ = &c;
  bool const rests = (word_.fetch_or(carried, std::memory_order_relaxed) & carried) == 0;  // relaxed: under the lock
  unlock(~locked);
  if (rests) spawn_from_outside(pool_, *this);
}

// The carrier goes on before the child begins, so that another worker takes the next one meanwhile, or this one does if the child waits.
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
    self.unlock(~(locked | carried));  // the last touch: its thread may free it
  }
  if (c != nullptr) {
    w.begin_job();
    c->run(*c);
    current()->end_job();
  }
  current()->count.add(counted::fibers_finished, std::memory_order_release);  // pairs with wait_for_all
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

// Where no worker sleeps they are all up, and one of them will come for what is left: the carrier waits for them.
void outside_children::help() noexcept {
  lock();
  bool const some = newest_ != nullptr;
  unlock(~locked);
  if (!some) return;
  struct helping final : root {
    outside_children& all;
    event done;
    explicit helping(outside_children& of) noexcept : all{of} {
      start = [](root& r) {
        current()->begin_without_tasks();
        outside_children& o = static_cast<helping&>(r).all;
        o.begin_all_(o);
      };
      finish = [](root& r) noexcept { static_cast<helping&>(r).done.set(); };
      pool = &of.pool_;
    }
  } r{*this};
  run_if_one_sleeps(pool_, r, r.done);
}

void outside_children::join(children& c) noexcept {
  auto const forked = static_cast<std::int64_t>(c.steals());
  if (!c.join.complete(forked)) {
    help();
    event done;
    c.done = &done;
    if (!c.join.announce(forked)) sleep_until_set(done, {"the children of a scope", nullptr});
  }
  leave();
}

void outside_children::leave() noexcept {
  lock();
  if ((word_.load(std::memory_order_relaxed) & carried) == 0) {  // relaxed: under the lock
    delete this;
  } else {
    word_.fetch_or(left, std::memory_order_relaxed);  // relaxed: under the lock
    unlock(~locked);  // the last touch: the carrier may free it
  }
}

}  // namespace nopal::core

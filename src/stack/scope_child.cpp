// The slow path of a scope's forks: the fast way is closed, the parent was stolen, or a child has thrown. And the scope's join.

#include "nopal/core/stack/scope_child.hpp"

#include <exception>
#include <new>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/join_wait.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/stop/later.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

// The parent's stack was stolen, and the thief has resumed it: a strand begins with it on the thief's worker. The child still runs on
// another worker, or has arrived.
static void parent_continues_elsewhere(children& c) noexcept {
  worker& w = *current();
  w.here->body = nullptr;  // its body cannot return: this is not where run_from was called
  w.begin_strand();
  w.begin_without_tasks();
  bool const is_first = c.state == 0;
  if (is_first) c.uncaught = std::uncaught_exceptions();
  c.state += children::one_steal;
  begin_later_children(w, c, is_first);
}

// On the parent's stack, by the thief.
void parent_stolen(children& c, after_switch* a) noexcept {
  finish_switch(*current()->here, a);
  current()->here->stolen = false;
  parent_continues_elsewhere(c);
}

// The first function of a child's stack. run_child returns if the child owns its parent in the end; if the parent was stolen it does not,
// see parent_lost. Then this returns to the parent's stack, as a call does; or switches to it, if call_on had to switch here.
static void on_child_stack(context& s) noexcept {
  auto& mine = static_cast<stack&>(s);
  child& c = *mine.to_run;
  stack& parent = *c.of->owner;
  mine.run_child(c, true);
  if (mine.returns()) return;
  mine.leave(parent, [](stack& free) noexcept { current()->stacks.put(&free); });
}

// Runs `c` on `s` while this stack is offered. True: the child has taken this stack back, on this worker. False: a thief has resumed it,
// maybe on another worker.
static bool fork_on(stack& s, child& c, child::run_function run) noexcept {
  worker& before = *current();
  stack& parent = *before.here;
  children& of = *c.of;
  s.to_run = &c;
  s.run_child = run;
  before.here = &s;
  if (s.run_from(parent, on_child_stack)) current()->stacks.put(&s);
  if (std::exchange(parent.stolen, false)) {
    parent_continues_elsewhere(of);
    return false;
  }
  current()->here = &parent;
  return true;
}

// The stack on which the scope's function runs; null off a pool.
static stack* own_stack(children const& c) noexcept { return (c.state & children::listed) != 0 ? c.stays_on : c.owner; }

bool must_list(children const& c) noexcept {
  worker const* const w = current_or_null();
  if (w == nullptr) return true;
  if (w->stack_stays()) let_due_run();                     // these forks do not poll; the thread stays the same
  if (w->here != own_stack(c)) return c.owner == nullptr;  // which ends the program
  bool const has_list = c.owner == nullptr;
  return (has_list || (c.state == 0 && w->stack_stays())) && w->ready.empty();
}

// A scope forks in a state that the fast way excludes: work was requested, the deque must grow, no stack is at hand, an exception is being
// handled, or tasks are on this stack. Or the build has a sanitizer. Nothing is offered yet. Without memory the child is called here.
void fork_child(child& c, child::run_function run) {
  worker& w = *current();
  if (w.here != own_stack(*c.of)) {
    die("a scope forked on another stack than its own: in one of its children, or in a task after a co_await; make another scope there");
  }
  if (w.stack_stays() || c.of->owner == nullptr) return run(c, false);
  stack* s = nullptr;
  try {
    w.work.ensure_room(2 * w.most_entries());
    s = w.stacks.get();
  } catch (std::bad_alloc const&) {
  }
  if (s != nullptr && !may_offer_here(w)) w.stacks.put(std::exchange(s, nullptr));
  if (s == nullptr) {
    w.count.add(counted::serial_forks);
    return run(c, false);
  }
  if (w.alarm == worker::no_tasks) {
    fork_on(*s, c, run);
    return polled_fork_ended();
  }
  region_id later;  // the saved strand continues in it, if the fork has begun one
  {
    saved_strand const strand{w};
    w.begin_strand();
    w.begin_without_tasks();
    if (fork_on(*s, c, run)) current()->end_strand();
    later = current()->region;
  }
  current()->region = later;
}

void child_threw(children& c, std::uint64_t epoch) noexcept { c.first.record(c.join, epoch, caught()); }

void child_had_thrown(children& c) noexcept {
  // The number is the parent's: exceptions that it was handling when its stack was left are kept with that stack.
  bool const is_first = c.state == 0;
  if (is_first) c.uncaught = std::uncaught_exceptions() + static_cast<int>(c.owner->handled.uncaught);
  c.state |= children::thrown;
  begin_children_after_failure(*current(), c, is_first);
}

// The pop of the parent failed: its entry is no longer private, and thieves may be at the deque. If the entry is still there, this returns.
// Otherwise a thief runs the parent, and this child arrives. If it was the last one and the parent waits at its join, this worker resumes
// the parent's stack; else it searches for work on this stack, whose frames are no longer needed.
void parent_lost(children& c) noexcept {
  worker& w = *current();
  if (w.work.pop_slow(w.floor())) return;
  w.work.rewind();  // the parent was stolen, and with it all older entries
  end_lost_child(w, c);
  w.end_strand();
  stack& mine = *w.here;
  if (c.join.arrive()) resume(c.waiting);
  w.pool().call.search(mine);
}

// All children have arrived: no other worker knows of the scope. Makes it ready for its next forks.
static std::exception_ptr take_from(children& c) noexcept {
  c.state = 0;
  if (c.join.due()) return c.first.take(c.join);
  c.join.reset();
  return nullptr;
}

// Children may still run, and arrive at any time.
std::exception_ptr join_children(children& c) noexcept {
  if (state_here()->here != own_stack(c)) {
    die("a scope was joined on another stack than its own: in one of its children, or in a task after a co_await; make another scope "
        "there");
  }
  auto const steals = static_cast<std::int64_t>(c.steals());
  if (steals > 0 && c.owner == nullptr) {
    c.outside->join(c);
  } else if (steals > 0) {
    wait_at_join(c.join, steals, c.waiting);
    current()->work.request();  // as polled_fork_ended
  }
  if (c.owner == nullptr) return take_from(c);
  end_later_children(*current(), c);
  return earlier_than(take_from(c));
}

// The list of a scope off a pool, its carrier, and its join. Two sides touch it: the scope's thread, and the one worker that runs the
// carrier.

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

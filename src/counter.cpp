#include "nopal/counter.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "nopal/core/wait_queue.hpp"

namespace nopal {

using core::counter_waiter;

void counter::lock() noexcept { core::lock_bit(word_, locked); }

// release: the waiters, for the next who locks. The last touch of the counter.
void counter::unlock() noexcept {
  word_.fetch_and(waiters_ == nullptr ? ~(locked | waited_for | wanted_early) : ~locked, std::memory_order_release);
}

// A value that is there while somebody holds the lock counts only once he is gone: the counter may be destroyed when we say yes.
bool counter::reached(std::int64_t value) noexcept {
  for (;;) {
    std::int64_t const w = word_.load(std::memory_order_acquire);  // acquire: pairs with done
    if ((w >> shift) > value) return false;
    if ((w & locked) == 0) return true;
    core::std_sync::yield();
  }
}

// On another stack than the one that waits, which may go on as soon as the lock is free.
bool counter::enqueue(counter_waiter& w, core::timer::ticket* limit) noexcept {
  lock();  // no done comes between the look and the entry in the list: those that do not lock find the word changed
  bool const waits = (word_.load(std::memory_order_acquire) >> shift) > w.target;  // acquire: pairs with done
  if (waits) {
    w.next_waiter = std::exchange(waiters_, &w);
    word_.fetch_or(w.target > 0 ? waited_for | wanted_early : waited_for, std::memory_order_relaxed);  // relaxed: under the lock
    if (limit != nullptr) limit->start();  // woken at once, the waiter still needs the lock on its way out
  }
  unlock();
  return waits;
}

void counter::done_slowly(std::int64_t n) noexcept {
  lock();
  // acq_rel: as in done
  std::int64_t const value = (word_.fetch_sub(n * one, std::memory_order_acq_rel) >> shift) - n;
  core::claimed_waiters due;
  for (counter_waiter* w = std::exchange(waiters_, nullptr); w != nullptr;) {
    auto* const next = static_cast<counter_waiter*>(w->next_waiter);
    if (w->target < value) {
      w->next_waiter = std::exchange(waiters_, w);
    } else if (w->claim()) {
      due.add(*w);
    }
    w = next;
  }
  unlock();
  due.wake();
}

void counter::forget(counter_waiter& w) noexcept {
  lock();
  counter_waiter* kept = nullptr;
  for (counter_waiter* x = std::exchange(waiters_, nullptr); x != nullptr;) {
    auto* const next = static_cast<counter_waiter*>(x->next_waiter);
    if (x != &w) x->next_waiter = std::exchange(kept, x);
    x = next;
  }
  waiters_ = kept;
  unlock();
}

void counter::failed(std::exception_ptr e) noexcept {
  lock();
  if (error_ == nullptr) error_ = std::move(e);
  word_.fetch_or(thrown, std::memory_order_relaxed);  // before the done that is seen
  unlock();
}

void counter::rethrow_if_thrown() {
  if ((word_.load(std::memory_order_acquire) & thrown) == 0) return;  // acquire: pairs with the done that came after failed
  lock();
  std::exception_ptr const e = std::exchange(error_, nullptr);
  word_.fetch_and(~thrown, std::memory_order_relaxed);  // relaxed: under the lock
  unlock();
  if (e != nullptr) std::rethrow_exception(e);
}

void counter::check_destroyed() noexcept {
  // acquire: pairs with unlock, by a done that is about to leave
  while ((word_.load(std::memory_order_acquire) & locked) != 0) core::std_sync::yield();
  std::int64_t const w = word_.load(std::memory_order_relaxed);
  if ((w & waited_for) != 0) core::die("a counter was destroyed while somebody waits for it; let it outlive every wait_for");
  if ((w >> shift) > 0) {
    std::fprintf(stderr,
                 "nopal: a counter was destroyed at %lld, while fibers may still count it down; nopal::wait_for(counter) before its scope ends\n",
                 static_cast<long long>(w >> shift));
    std::fflush(stderr);
    std::abort();
  }
  if ((w & thrown) != 0) core::die_fiber(error_, "and its counter was destroyed before anybody waited for it; nopal::wait_for rethrows it");
}

void core::fail_fiber(counter* c, std::exception_ptr e) noexcept {
  if (c != nullptr) return c->failed(std::move(e));
  die_fiber(e, "and no counter was given to nopal::spawn, so that nobody can rethrow it; catch it there, or spawn(counter, f)");
}

void wait_for(counter& c, std::int64_t value) {
  if (!c.reached(value)) {
    counter_waiter me;
    me.target = value;
    core::park(me, {"a counter", &c}, [&]() noexcept { return c.enqueue(me, nullptr); });
  }
  c.rethrow_if_thrown();
}

bool wait_until(counter& c, std::int64_t value, core::time_point limit) {
  bool in_time = c.reached(value);
  if (!in_time) {
    counter_waiter me;
    me.target = value;
    in_time = core::park_until(me, {"a counter, with a time limit", &c}, limit, [&](core::timer::ticket* t) noexcept { return c.enqueue(me, t); });
    if (!in_time) {
      c.forget(me);
      in_time = c.reached(value);
    }
  }
  if (in_time) c.rethrow_if_thrown();
  return in_time;
}

}  // namespace nopal

#include "nopal/condition_variable.hpp"

#include <system_error>

#include "nopal/fiber.hpp"

// The order of a wait: into the queue, out of the mutex, both on another stack than the one that waits. Who has locked the mutex after
// the waiter sees it in the queue. Who has not may have notified before.

namespace nopal {

using core::lock_bit;
using core::queued_waiter;

namespace {
mutex& mutex_of(std::unique_lock<mutex> const& lock) {
  if (lock.owns_lock()) return *lock.mutex();
  throw std::system_error{std::make_error_code(std::errc::operation_not_permitted),
                          "nopal: a condition_variable was waited for without its mutex; lock it first"};
}
}  // namespace

// release: the queue, for the next who takes the lock bit. The last touch of whoever notifies.
void condition_variable::unlock() noexcept { word_.store(waiters_.empty() ? 0 : waited_for, std::memory_order_release); }

// From here on `me` may be woken and, but for the mutex that it needs first, be gone.
void condition_variable::enqueue(queued_waiter& me, core::timer::ticket* limit) noexcept {
  lock_bit(word_, locked);
  waiters_.push_back(me);
  if (limit != nullptr) limit->start();
  unlock();
}

void condition_variable::wait(std::unique_lock<mutex>& lock) {
  mutex& m = mutex_of(lock);
  queued_waiter me;
  std::uintptr_t const self = core::self();
  core::park(me, {"a condition_variable", this}, [&]() noexcept {
    // What the closure refers to lies in the frame of the waiter.
    mutex* const held = &m;
    std::uintptr_t const holder = self;
    enqueue(me, nullptr);
    held->unlock_for(holder);
    return true;
  });
  m.lock_in_turn();  // perhaps before it was unlocked: not lock, which would find it ours
}

std::cv_status condition_variable::wait_until(std::unique_lock<mutex>& lock, core::time_point limit) {
  mutex& m = mutex_of(lock);
  queued_waiter me;
  std::uintptr_t const self = core::self();
  bool const notified = core::park_until(me, {"a condition_variable, with a time limit", this}, limit, [&](core::timer::ticket* t) noexcept {
    mutex* const held = &m;
    std::uintptr_t const holder = self;
    enqueue(me, t);
    held->unlock_for(holder);
    return true;
  });
  if (!notified) forget(me);
  m.lock_in_turn();  // as in wait
  return notified ? std::cv_status::no_timeout : std::cv_status::timeout;
}

void condition_variable::notify(std::ptrdiff_t most) noexcept {
  core::claimed_waiters claimed;
  lock_bit(word_, locked);
  waiters_.claim(most, claimed);
  unlock();
  claimed.wake();
}

void condition_variable::forget(queued_waiter& me) noexcept {
  lock_bit(word_, locked);
  waiters_.remove(me);
  unlock();
}

// Those that have timed out may not know that everybody was notified.
void condition_variable::wait_for_expired() noexcept {
  for (;;) {
    lock_bit(word_, locked);
    if (waiters_.awaited()) core::die("a condition_variable was destroyed while somebody waits for it; notify_all first");
    bool const gone = waiters_.empty();
    unlock();
    if (gone) return;
    yield();
    core::std_sync::yield();
  }
}

}  // namespace nopal

#include "nopal/semaphore.hpp"

#include <stdexcept>
#include <string>

// A permit is handed over to who waits, under the lock bit: it is never free while somebody waits that has not timed out.

namespace nopal {

using core::lock_bit;
using core::queued_waiter;

semaphore::semaphore(std::ptrdiff_t n) : word_{n << shift} {
  if (n >= 0 && n <= max()) return;
  throw std::invalid_argument{"nopal: semaphore{" + std::to_string(n) + "}: permits are counted from 0 to " + std::to_string(max()) +
                              "; begin with one of these"};
}

// release: the permits, and the queue, for the next who takes the lock bit. The last touch of whoever releases.
void semaphore::unlock(std::int64_t permits) noexcept {
  word_.store(permits * one | (waiters_.empty() ? 0 : waited_for), std::memory_order_release);
}

bool semaphore::try_acquire_slowly() noexcept {
  std::int64_t const permits = lock_bit(word_, locked) >> shift;
  unlock(permits > 0 ? permits - 1 : 0);
  return permits > 0;
}

// On another stack than the one that waits. False: it has its permit.
bool semaphore::enqueue(queued_waiter& me, core::timer::ticket* limit) noexcept {
  std::int64_t const permits = lock_bit(word_, locked) >> shift;
  if (permits > 0) {
    unlock(permits - 1);
    return false;
  }
  waiters_.push_back(me);
  if (limit != nullptr) limit->start();
  unlock(0);  // from here on `me` may be gone
  return true;
}

void semaphore::acquire_slowly() noexcept {
  queued_waiter me;
  core::park(me, {"a semaphore", this}, [&]() noexcept { return enqueue(me, nullptr); });
}

bool semaphore::try_acquire_until(core::time_point limit) {
  if (try_acquire()) return true;
  queued_waiter me;
  if (core::park_until(me, {"a semaphore, with a time limit", this}, limit, [&](core::timer::ticket* t) noexcept { return enqueue(me, t); })) {
    return true;
  }
  std::int64_t const permits = lock_bit(word_, locked) >> shift;
  waiters_.remove(me);
  unlock(permits);
  return false;
}

void semaphore::release_slowly(std::ptrdiff_t n) {
  if (n < 0) throw std::invalid_argument{"nopal: semaphore::release(" + std::to_string(n) + "): acquire takes permits, release gives them"};
  std::int64_t permits = lock_bit(word_, locked) >> shift;
  if (n > max() - permits) {
    unlock(permits);
    throw std::overflow_error{"nopal: semaphore::release(" + std::to_string(n) + ") with " + std::to_string(permits) +
                              " permits there: a semaphore holds at most " + std::to_string(max()) + "; release what was acquired"};
  }
  core::claimed_waiters claimed;
  permits += n;
  permits -= waiters_.claim(permits, claimed);
  unlock(permits);
  claimed.wake();
}

void semaphore::check_destroyed() noexcept {
  lock_bit(word_, locked);
  if (!waiters_.empty()) core::die("a semaphore was destroyed while somebody waits for it; let it outlive every acquire");
}

}  // namespace nopal

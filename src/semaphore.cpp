#include "nopal/semaphore.hpp"

#include <stdexcept>
#include <string>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI {

semaphore::semaphore(std::ptrdiff_t n) : word_{n} {
  if (n >= 0 && n <= max()) return;
  throw std::invalid_argument{"nopal: semaphore{" + std::to_string(n) + "}: permits are counted from 0 to " + std::to_string(max()) +
                              "; begin with one of these"};
}

// There was no permit, or threads are at the queue.
bool semaphore::acquire_slowly() noexcept {
  if (core::task_may_wait_here()) return true;
  word_.acquire_slowly();
  return false;
}
void core::acquiring::finish(semaphore& s) { s.word_.acquire_slowly(); }
bool semaphore::try_acquire_slowly() noexcept { return word_.try_acquire_slowly(); }
bool semaphore::try_acquire_until(std::chrono::steady_clock::time_point deadline) {
  if (try_acquire() || word_.acquire_until(deadline)) return true;
  core::throw_if_wait_was_stopped();
  return false;
}

// There may be waiters, or `n` is out of range. Other threads may release and acquire at the same time. Nothing has changed if this throws.
void semaphore::release_slowly(std::ptrdiff_t n) {
  if (n < 0) {
    throw std::invalid_argument{"nopal: semaphore::release(" + std::to_string(n) +
                                "): the number of permits to give is negative; take permits by acquire()"};
  }
  std::ptrdiff_t permits;
  if (word_.release_slowly(n, permits)) return;
  throw std::overflow_error{"nopal: semaphore::release(" + std::to_string(n) + ") with " + std::to_string(permits) +
                            " permits there: a semaphore holds at most " + std::to_string(max()) + "; release what was acquired"};
}

// The semaphore is being destroyed, and a flag is set: a thread waits, or is about to clear the lock bit.
void semaphore::check_destroyed() noexcept {
  if (word_.deserted()) return;
  core::die_unless_in_exit("a semaphore was destroyed while a fiber, task or thread waits for it; let it outlive every acquire()");
}

}  // namespace nopal

#include "nopal/timed_mutex.hpp"

#include <cstddef>
#include <system_error>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/in_order.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI {

// All accesses of the owner are relaxed: only the caller's own number matters to it, and only the caller writes that. The permit hands over
// what the owners wrote.

bool timed_mutex::acquire_if_free() noexcept {
  core::in_order();
  return word_.try_acquire([this]() noexcept { return word_.try_acquire_slowly(); });
}
// The caller has the permit.
void timed_mutex::is_mine() noexcept { owner_.store(core::self_locking(this), std::memory_order_relaxed); }

void timed_mutex::throw_if_mine() const {
  if (owner_.load(std::memory_order_relaxed) != core::self()) return;
  throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur),
                          "nopal: a timed_mutex was locked by the fiber, task or thread that has locked it already and would wait for "
                          "itself; unlock it first, or tell the function that locks it again that it is locked"};
}

void timed_mutex::lock() {
  if (!acquire_if_free()) {
    throw_if_mine();
    word_.acquire_slowly("a timed_mutex");
  }
  is_mine();
}

bool timed_mutex::try_lock() noexcept {
  if (!acquire_if_free()) return false;
  is_mine();
  return true;
}

bool timed_mutex::lock_until(core::time_point deadline) {
  if (!acquire_if_free()) {
    throw_if_mine();
    if (!word_.acquire_until(deadline, "a timed_mutex, with a time limit")) {
      core::throw_if_wait_was_stopped();
      return false;
    }
  }
  is_mine();
  return true;
}

void timed_mutex::unlock() noexcept {
  core::in_order();
  if (owner_.load(std::memory_order_relaxed) != core::self()) {  // relaxed: as above
    core::die(
        "a timed_mutex was unlocked by another fiber, task or thread than the one that has locked it, or by a task after a co_await; "
        "unlock it where it was locked, before any co_await, or use a nopal::semaphore{1}");
  }
  owner_.store(0, std::memory_order_relaxed);  // relaxed: as above
  core::self_unlocking();
  if (std::ptrdiff_t permits; !word_.release_if_quiet(1)) word_.release_slowly(1, permits);
}

// The mutex is being destroyed, and is owned, or a flag is set: a thread waits, or is about to clear the lock bit.
void timed_mutex::check_destroyed() noexcept {
  if (!word_.deserted()) {
    core::die_unless_in_exit("a timed_mutex was destroyed while a fiber, task or thread waits for it; let it outlive every lock()");
  } else if (owner_.load(std::memory_order_relaxed) != 0) {  // relaxed: as above
    core::die_unless_in_exit("a timed_mutex was destroyed while it is locked; unlock it first");
  }
}

}  // namespace nopal

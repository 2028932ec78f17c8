#include "nopal/call_once.hpp"
#include "nopal/condition_variable.hpp"
#include "nopal/mutex.hpp"
#include "nopal/shared_mutex.hpp"
#include "nopal/timed_mutex.hpp"

#include <cstddef>
#include <system_error>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "wait/turn.hpp"

namespace nopal::inline NOPAL_ABI {

// ---- mutex.

static_assert(alignof(core::stack) >= 8, "the flags of a mutex lie in the low bits of its owner's address");

// The mutex is owned, by another or by the caller, or threads are at its queue. The caller owns it afterwards, unless this throws.
bool mutex::lock_slowly() {
  std::uintptr_t const self = core::self();
  if (word_.owner() == self) {
    core::self_unlocking();
    throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "nopal: a mutex was locked by the fiber, task or thread that has locked it already and would wait for itself; "
                            "unlock it first, or tell the function that locks it again that it is locked"};
  }
  if (core::task_may_wait_here()) {
    if (std::uintptr_t seen; word_.lock_if_free(self, seen) || (!word_.is_owned(seen) && word_.try_lock_slowly(self))) return false;
    core::self_unlocking();
    return true;
  }
  word_.lock_in_turn(self);
  return false;
}

// On the native stack, or as a thread.
void mutex::lock_here() { word_.lock_in_turn(core::self_locking(this)); }

void core::locking::finish(mutex& m) { m.lock_here(); }

// A task waits without a stack.
bool core::task_waits_for<core::locking>::waits(bool woken) {
  if (woken) {
    if (mutex_.word_.owns_after_wake_up(me_)) return false;
  } else if (mutex_.word_.owner() == task_as_owner()) {
    throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "nopal: a mutex was locked by the task that has locked it already, and would wait for itself; let the first "
                            "held_mutex end before, or call its unlock()"};
  }
  return mutex_.word_.watch(me_);
}
void core::task_waits_for<core::locking>::wait_here() { mutex_.word_.lock_in_turn(task_as_owner()); }

bool mutex::try_lock_slowly() noexcept { return word_.try_lock_slowly(core::self()); }
void mutex::unlock_slowly(std::uintptr_t self) noexcept { word_.unlock_slowly(self); }

// The mutex is being destroyed, and is locked or waited for. Other threads may still use it.
void mutex::die_destroyed() noexcept {
  core::die_unless_in_exit(word_.is_awaited()
                               ? "a mutex was destroyed while a fiber, task or thread waits for it; let it outlive every lock()"
                               : "a mutex was destroyed while it is locked; unlock it first");
}

// ---- timed_mutex.

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

// ---- shared_mutex.

// It is not free, or threads are at the queue.
void shared_mutex::lock_slowly(share s) noexcept { word_.lock_slowly(s); }
bool shared_mutex::try_lock_slowly(share s) noexcept { return word_.try_lock_slowly(s); }
void shared_mutex::unlock_slowly(share s) noexcept { word_.unlock_slowly(s); }

bool shared_mutex::lock_until(share s, core::time_point deadline) {
  core::in_order();
  if (word_.lock_if_free(s) || word_.lock_until(s, deadline)) return true;
  core::throw_if_wait_was_stopped();
  return false;
}

// It is being destroyed, and is locked or waited for. Other threads may still use it.
void shared_mutex::die_destroyed() noexcept {
  core::die_unless_in_exit(word_.is_awaited()
                               ? "a shared_mutex was destroyed while a fiber, task or thread waits for it; let it outlive every lock"
                               : "a shared_mutex was destroyed while it is locked; unlock it first");
}

// ---- condition_variable.

namespace {
mutex& mutex_of(std::unique_lock<mutex> const& lock) {
  if (lock.owns_lock()) return *lock.mutex();
  throw std::system_error{std::make_error_code(std::errc::operation_not_permitted),
                          "nopal: a condition_variable was waited for without its mutex; lock it first"};
}
}  // namespace

void condition_variable::wait(std::unique_lock<mutex>& lock) { word_.wait(mutex_of(lock).word_, core::self()); }

// For a channel, here and below: `why` replaces "a condition_variable" in reports.
void condition_variable::wait_within(std::unique_lock<mutex>& lock, core::waits_for const& why) {
  mutex& m = mutex_of(lock);
  if (!core::wait_may_end_early()) [[likely]]
    return word_.wait(m.word_, core::self(), why);
  if (!word_.wait_until(m.word_, core::self(), core::time_point::max(), why)) core::throw_stopped();
}

std::cv_status condition_variable::wait_until(std::unique_lock<mutex>& lock, std::chrono::steady_clock::time_point deadline) {
  return wait_until_within(lock, deadline, {"a condition_variable, with a time limit", this});
}

std::cv_status condition_variable::wait_until_within(std::unique_lock<mutex>& lock, core::time_point deadline, core::waits_for const& why) {
  if (word_.wait_until(mutex_of(lock).word_, core::self(), deadline, why)) return std::cv_status::no_timeout;
  core::throw_if_wait_was_stopped();
  return std::cv_status::timeout;
}

void condition_variable::notify(std::ptrdiff_t most) noexcept { word_.notify(most); }

// The condition variable is being destroyed, and its queue is not empty. Waiters that have timed out may be about to remove themselves:
// until they have, the caller lets other stacks of its worker run, or other threads. The queue is empty afterwards.
void condition_variable::wait_for_expired() noexcept {
  bool const empty = word_.wait_for_expired([round = 0]() mutable noexcept {
    static_cast<void>(core::yield_stack());
    core::std_sync::give_way(round++);
  });
  if (!empty) core::die_unless_in_exit("a condition_variable was destroyed while a fiber, task or thread waits for it; notify_all() first");
}

// ---- call_once.

// The function may have returned when the turn comes.
once_flag::turn::turn(once_flag& flag) : flag_{flag} {
  core::take_turn(flag.mutex_,
                  "nopal: a function that call_once runs has called call_once with the same flag and would wait for its own end; "
                  "use what it makes only after it has returned, or give what it needs a flag of its own");
}

once_flag::turn::~turn() { core::pass_turn(flag_.mutex_); }

}  // namespace nopal

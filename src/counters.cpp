#include "nopal/barrier.hpp"
#include "nopal/counter.hpp"
#include "nopal/latch.hpp"
#include "nopal/semaphore.hpp"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/process.hpp"
#include "nopal/core/observe/measured.hpp"
#include "nopal/core/stop/here.hpp"
#include "report/held_exceptions.hpp"

namespace nopal::inline NOPAL_ABI {

// ---- counter.

void counter::reject(char const* call, std::int64_t n) {
  throw std::invalid_argument{"nopal: " + std::string{call} + " with n = " + std::to_string(n) + ": a counter counts by -" +
                              std::to_string(max()) + " to " + std::to_string(max()) + "; count by one of these"};
}

void counter::done_slowly(std::int64_t n) noexcept { word_.done_slowly(n); }
// A fiber has thrown. It has not counted the counter down yet, so the counter lives. Reports list the exception while the counter keeps it.
void counter::failed(std::exception_ptr e) noexcept {
  core::hold(this, e, [&] { word_.failed(e); });
}

void counter::rethrow_if_thrown() {
  if (!word_.has_exception()) return;
  std::exception_ptr e;
  core::drop_held(this, [&] { e = word_.take_exception(); });
  if (e != nullptr) std::rethrow_exception(e);
}

// The counter is being destroyed, and is above 0, or a flag is set: a thread waits for it, it has an exception, or a done is about to clear
// the lock bit; close waits for that. In exit it may be used still: so it stays as it is.
void counter::check_destroyed() noexcept {
  word_.close();
  if (word_.is_awaited()) {
    core::die_unless_in_exit("a counter was destroyed while a fiber, task or thread waits for it; let it outlive every wait_for()");
    core::keep_for_ever(word_.unclaimed());  // for those that wait
    return word_.reopen();
  }
  if (std::int64_t const n = word_.load(); n > 0 && !core::is_in_exit()) {
    core::die_in(nullptr,
                 "a counter was destroyed at %lld, while fibers may still count it down; "
                 "call nopal::wait_for(counter) before its scope ends",
                 static_cast<long long>(n));
  }
  std::exception_ptr const e = word_.unclaimed();
  if (e == nullptr) return word_.reopen();
  if (std::uncaught_exceptions() == 0 && !word_.is_known() && !core::is_stopped(e)) {
    core::die_fiber(e, "and its counter was destroyed with it; call nopal::wait_for(counter), which rethrows it");
  }
  core::drop_held(this, [&] { word_.reopen_without_exception(); });
}

void core::die_fiber(std::exception_ptr const& e, char const* remedy) noexcept {
  die_in(nullptr, "an exception left a fiber (%s), %s", message_of(e), remedy);
}

void core::fail_fiber(counter* c, std::exception_ptr e) noexcept {
  if (c != nullptr) return c->failed(std::move(e));
  if (is_stopped(e)) return;
  die_fiber(e,
            "and no counter was given to nopal::spawn, so it cannot be rethrown; catch it in the fiber, or call spawn(counter, f) and "
            "wait_for(counter)");
}

core::waited wait_for(counter& c, std::int64_t value) {
  core::in_order();
  core::wait_in_profile measured{&c};
  if (!core::wait_may_end_early()) [[likely]] {
    c.word_.wait(value);
  } else if (!c.word_.wait_until(value, core::time_point::max(), "a counter")) {
    core::throw_stopped();
  }
  measured.came();
  c.rethrow_if_thrown();
  return {};
}

bool wait_until(counter& c, std::int64_t value, std::chrono::steady_clock::time_point deadline) {
  core::in_order();
  core::wait_in_profile measured{&c};
  bool const in_time = c.word_.wait_until(value, deadline);
  if (!in_time) core::throw_if_wait_was_stopped();
  if (in_time) measured.came();
  if (in_time) c.rethrow_if_thrown();
  return in_time;
}

// ---- latch.

latch::latch(std::ptrdiff_t n) : word_{n >= 0 && n <= max() ? n : 0} {
  if (n >= 0 && n <= max()) return;
  throw std::invalid_argument{"nopal: latch{" + std::to_string(n) + "}: a latch counts down from 0 to " + std::to_string(max()) +
                              "; begin with one of these"};
}

void latch::reject(std::ptrdiff_t n) const {
  throw std::invalid_argument{"nopal: latch::count_down(" + std::to_string(n) + "): " + std::to_string(word_.load()) +
                              " are left to count, and a latch only counts down; begin with as many as there are counts"};
}

void latch::wait() {
  core::in_order();
  if (!core::wait_may_end_early()) [[likely]]
    return word_.wait(0, "a latch", core::wait_kind::counter);
  if (!word_.wait_until(0, core::time_point::max(), "a latch")) core::throw_stopped();
}

bool latch::wait_until(std::chrono::steady_clock::time_point deadline) {
  core::in_order();
  if (word_.wait_until(0, deadline, "a latch, with a time limit")) return true;
  core::throw_if_wait_was_stopped();
  return false;
}

// The latch is being destroyed, and is above 0, or a flag is set: a thread waits for it, or a count is about to clear the lock bit; close
// waits for that.
void latch::check_destroyed() noexcept {
  word_.close();
  if (word_.is_awaited())
    core::die_unless_in_exit("a latch was destroyed while a fiber, task or thread waits for it; let it outlive every wait()");
  word_.reopen();  // as a counter
}

}  // namespace nopal

namespace nopal::inline NOPAL_ABI::core {

// ---- barrier.

barrier_word::barrier_word(std::ptrdiff_t n) : word_{n} {
  if (n >= 0 && n <= max) return;
  throw std::invalid_argument{"nopal: barrier{" + std::to_string(n) + "}: a barrier has 0 to " + std::to_string(max) +
                              " participants; ask for one of these"};
}

void barrier_word::reject(std::ptrdiff_t n, std::ptrdiff_t pending) {
  throw std::invalid_argument{"nopal: " + std::to_string(n) + " arrive at a barrier, where 1 to " + std::to_string(pending) +
                              " are still expected in this phase; let each participant arrive once a phase, or make the barrier for more"};
}

void barrier_word::wait(std::uint64_t phase) {
  in_order();
  if (!wait_may_end_early()) [[likely]]
    return word_.wait(phase);
  if (!word_.wait_until(phase, time_point::max(), "a barrier")) throw_stopped();
}

bool barrier_word::wait_until(std::uint64_t phase, time_point deadline) {
  in_order();
  if (word_.wait_until(phase, deadline, "a barrier, with a time limit")) return true;
  throw_if_wait_was_stopped();
  return false;
}

// The barrier is being destroyed, and a flag is set: a thread waits, or is about to clear the lock bit.
void barrier_word::check_destroyed() noexcept {
  if (word_.deserted()) return;
  die_unless_in_exit("a barrier was destroyed while a fiber, task or thread waits at it; let it outlive every wait()");
}

}  // namespace nopal::core

namespace nopal::inline NOPAL_ABI {

// ---- semaphore.

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

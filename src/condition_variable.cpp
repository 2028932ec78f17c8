#include "nopal/condition_variable.hpp"

#include <system_error>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/yield.hpp"

namespace nopal::inline NOPAL_ABI {

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

}  // namespace nopal

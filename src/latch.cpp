#include "nopal/latch.hpp"

#include <stdexcept>
#include <string>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI {

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
  if (!word_.is_awaited()) return;
  core::die_unless_in_exit("a latch was destroyed while a fiber, task or thread waits for it; let it outlive every wait()");
}

}  // namespace nopal

#include "nopal/barrier.hpp"

#include <stdexcept>
#include <string>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

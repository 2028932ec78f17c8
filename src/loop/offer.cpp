#include "nopal/core/loop/offer.hpp"

#include "nopal/core/architecture/clock_ticks.hpp"
#include "nopal/core/architecture/machine_word.hpp"
#include "nopal/core/loop/pace.hpp"

namespace nopal::inline NOPAL_ABI::core {

NOPAL_COLD static void wait_a_moment_by_own_clock(branch const& later) noexcept {
  std::uint64_t const began = waiting_ticks();
  auto const moment = static_cast<std::uint64_t>(loop_tuning::moment());
  while (!later.join.complete(1) && waiting_ticks() - began < moment) std_sync::relax();
}

// After a pop that failed, bottom is the index of the entry. A thief that has taken it has raised top above that.
void wait_a_moment(branch const& later) noexcept {
  worker const& w = *current();
  if (w.work.oldest() <= w.work.bottom() || w.pool().takes_turns) return;
  if (w.pool().has_own_clock) [[unlikely]]
    return wait_a_moment_by_own_clock(later);
  std::uint64_t const began = clock_ticks();
  auto const moment = static_cast<std::uint64_t>(loop_tuning::moment());
  while (!later.join.complete(1) && clock_ticks() - began < moment) cpu_relax();
}

}  // namespace nopal::core

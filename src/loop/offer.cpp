#include "nopal/core/loop/offer.hpp"

#include "nopal/core/architecture/clock_ticks.hpp"
#include "nopal/core/architecture/machine_word.hpp"
#include "nopal/core/loop/loop_tuning.hpp"

namespace nopal::inline NOPAL_ABI::core {

// After a pop that said no, bottom is the index of the entry. A thief that has taken it has raised top above that.
void wait_a_moment(branch const& later) noexcept {
  worker const& w = *current();
  if (w.work.oldest() <= w.work.bottom() || w.pool().control != nullptr) return;
  std::uint64_t const began = clock_ticks();
  auto const moment = static_cast<std::uint64_t>(loop_tuning::moment());
  while (!later.join.complete(1) && clock_ticks() - began < moment) cpu_relax();
}

}  // namespace nopal::core

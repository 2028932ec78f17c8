// The mode and the stop region of a deque follow those of the strand.

#include "nopal/core/stack/offered_mode.hpp"

#include <algorithm>
#include <cstdint>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/stack/give_away.hpp"

namespace nopal::inline NOPAL_ABI::core {

// Thieves may be at the deque. Its entries have the deque's mode and region. They go where any worker may take them, as if they were
// stolen: the oldest first, as always. The strand loses nothing by that: thieves would have taken the new entries last.
bool may_offer_here(worker& w) noexcept {
  control_words const now = control_words::now();
  bool const outermost = w.work.empty();
  if (!w.strand.offered) w.strand.polls_always = false;
  // The mode was changed below a fork without a call to nopal: it may change again in this way, between two forks.
  if (w.strand.offered && now != w.strand.declared && !outermost) w.strand.polls_always = true;
  w.strand.declared = now;
  offered_in const here{now, w.region};
  if (here == w.work.all_offered_in()) return true;
  if (!outermost) {
    if (!w.orphans.get(w.work)) return false;
    w.work.publish_all();
    give_everything_away(w, w.orphans);
  }
  w.work.set_offered_in(here);
  return true;
}

void polled_fork_ended() noexcept {
  worker& w = *current();
  if (!w.work.empty()) return;
  std::int64_t const now = std_sync::now();
  std::int64_t const next =
      std::max(w.next_outermost_poll, now - tuning::most_outermost_polls * tuning::outermost_poll) + tuning::outermost_poll;
  if (next > now) return;
  w.next_outermost_poll = next;
  w.work.request();
}

void mode_changed(worker& w) noexcept {
  w.strand.declared = control_words::now();
  w.work.request();
}

void die_of_mode() noexcept {
  die("a thief ran what was forked here in another floating-point mode (rounding, flush to zero, traps) than it has here: the mode was "
      "changed between two forks by other means than nopal::floating_point_mode, or a forked function did not put it back; use "
      "nopal::floating_point_mode, or call nopal::floating_point_mode_changed() after each change");
}

}  // namespace nopal::core

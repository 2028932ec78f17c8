// The mode of a deque follows that of the strand.

#include "nopal/core/stack/offered_mode.hpp"

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stack/give_away.hpp"

namespace nopal::core {

// Thieves may be at the deque. What it holds has the deque's mode and goes where any worker may take it, as if it were stolen: the oldest
// first, as always. So it costs the strand no work that others could have had: they would have come to the entries of the new mode last.
bool may_offer_in_this_mode(worker& w) noexcept {
  control_words const now = control_words::now();
  if (!w.strand.offered) {
    w.strand.declared = now;
    w.strand.polls_always = false;
  } else if (now != w.strand.declared) {  // changed without a word: it may change so again, between two forks
    w.strand.declared = now;
    w.strand.polls_always = true;
  }
  if (now == w.work.mode()) return true;
  if (!w.work.empty()) {
    if (!w.orphans.get(w.work)) return false;
    w.work.publish_all();
    give_everything_away(w, w.orphans);
  }
  w.work.set_mode(now);
  return true;
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

// The owner's last steps at a deque that it leaves.

#include "nopal/core/stack/give_away.hpp"

#include "nopal/core/scheduler/injection.hpp"

namespace nopal::inline NOPAL_ABI::core {

// A worker has taken an orphaned continuation from an inbox, and owns the task now.
static void run_orphan(resumable& r, worker& w) noexcept {
  auto* const o = static_cast<orphaned_continuation*>(&r);
  frame& task = *o->what;
  offered_in const in{o->mode, o->region};
  delete o;
  w.pool().call.run_stolen_task(w, task, in);
}

// The owner is about to leave the strand. Thieves may take entries at the same time. The owner takes the oldest as they do, so that
// invariant 1 holds: who has lost an entry has lost all older ones.
void give_everything_away(worker& w, orphan_memory& memory) noexcept {
  while (!w.work.empty()) {
    offered_in in;
    deque::entry const e = w.work.steal(&in);
    if (e == 0) continue;
    continuation const c{e};
    if (!c.is_frame()) {
      c.as_resumable()->mode = in.mode;
      c.as_resumable()->region = in.region;
      inject(w.pool(), *c.as_resumable(), w.index());
    } else {
      orphaned_continuation& o = memory.take(c.as_frame());
      o.run = run_orphan;
      o.mode = in.mode;
      o.region = in.region;
      inject(w.pool(), o, w.index());
    }
  }
  memory.clear();  // what thieves took needs none
  w.work.rewind();
}

}  // namespace nopal::core

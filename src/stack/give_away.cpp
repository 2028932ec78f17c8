// The owner empties a deque that it leaves.

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
// invariant 1 holds: a strand that has lost an entry has lost all older ones.
template <class Put>
static void empty_deque(worker& w, orphan_memory& memory, Put put) noexcept {
  while (!w.work.empty()) {
    offered_in in;
    deque::entry const e = w.work.steal(&in);
    if (e == 0) continue;
    continuation const c{e};
    if (!c.is_frame()) {
      c.as_resumable()->mode = in.mode;
      c.as_resumable()->region = in.region;
      put(*c.as_resumable());
    } else {
      orphaned_continuation& o = memory.take(c.as_frame());
      o.run = run_orphan;
      o.mode = in.mode;
      o.region = in.region;
      put(o);
    }
  }
  memory.clear();  // for the entries that thieves took
  w.work.rewind();
}

void give_everything_away(worker& w, orphan_memory& memory) noexcept {
  empty_deque(w, memory, [&](resumable& r) noexcept { inject(w.pool(), r, w.index()); });
}

bool move_to_ring(worker& w) {
  if (w.work.empty()) return true;
  if (!w.orphans.get(w.work)) return false;
  w.ready.ensure_room(w.work.bottom() - w.work.oldest() + 1);  // one more, for the stack itself
  empty_deque(w, w.orphans, [&](resumable& r) noexcept { w.make_ready(r); });
  return true;
}

}  // namespace nopal::core

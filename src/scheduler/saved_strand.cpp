#include "nopal/core/scheduler/saved_strand.hpp"

#include <utility>

namespace nopal::inline NOPAL_ABI::core {

saved_strand::saved_strand(worker& w) noexcept
    : from_{&w},
      cold_{std::exchange(w.strand, {})},
      arena_{w.arena.detach()},
      epoch_{w.arena.epoch},
      alarm_{w.alarm},
      limit_{w.work.limit()},
      parent_word_{w.parent_word},
      slot_{w.slot},
      busy_with_{w.busy_with.load(std::memory_order_relaxed)},  // relaxed: a hint
      near_{w.near.get()},
      far_{w.far.get()},
      context_{w.runs_in()} {
  w.alarm = worker::no_alarm;
}

saved_strand::~saved_strand() {
  worker& w = *current();  // maybe not *from_: another worker may have resumed the stack
  w.strand = std::move(cold_);
  // On another worker the strand has no entry in the deque: a stack that is suspended leaves an empty deque.
  if (&w != from_) w.strand.floor = w.work.bottom();
  w.arena.attach(arena_);
  w.arena.epoch = epoch_;
  w.alarm = alarm_;
  w.work.set_limit(limit_);
  w.continue_in(context_);
  w.parent_word = parent_word_;
  w.slot = slot_;
  w.busy_with.store(busy_with_, std::memory_order_relaxed);  // relaxed: a hint
  w.descends_from(near_, far_);
}

}  // namespace nopal::core

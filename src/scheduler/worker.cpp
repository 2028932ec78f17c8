#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/scheduler/current_identity.hpp"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "nopal/core/scheduler/permits.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/core/task/frame.hpp"

namespace nopal::inline NOPAL_ABI::core {

// No fork of an ordinary function takes less of the native stack than its branch.
static constexpr std::size_t least_native_fork = sizeof(branch);

worker::worker(pool_state& pool, unsigned index, std::uint64_t seed)
    : worker_at_forks{pool, index},
      worker_between_strands{pool, index, seed, queues_here},
      observed{pool.observed.get()},
      pool_{pool},
      index_{index},
      no_slot_{place_without_slot()},
      most_entries_{tuning::most_nested_forks + static_cast<deque::index>(pool.stacks.stack_size() / least_native_fork)} {
  arena.use(pool.stacklets);
  work.reserve(most_entries_);
  ready.reserve(1);
  ready.set_limit_and_request(0);
}

deque::index worker::floor() const noexcept {
  stacklet const* const s = arena.segment();
  return s == nullptr ? strand.floor : std::max(strand.floor, s->floor);
}

// The lowest address to which the forks of a strand that begins here may let the native stack grow.
std::uintptr_t worker::lowest() const noexcept { return std::max(stack_pointer() - tuning::nesting, here->fork_limit()); }

bool worker::fits_here() const noexcept {
  std::uintptr_t const sp = stack_pointer();
  return sp > here->fork_limit() + tuning::nesting && here->holds(sp);  // how much of a foreign stack is left is unknown
}

void worker::begin_strand() noexcept {
  rewind_if_empty();
  assert(work.has_room_for(most_entries_));  // foreign entries may lie below: see make_room_for_strand
  strand.floor = work.bottom();
  begin_strand_again();
}

void worker::begin_strand_again() noexcept {
  alarm = no_alarm;
  work.set_limit_and_request(lowest());  // the first fork offers itself
}

void worker::end_strand() noexcept {
  rewind_if_empty();  // for the strand below, if one is saved: task/README.md, "Depth"
  retract_offers();
  busy_with.store(nullptr, std::memory_order_relaxed);  // relaxed: a hint
  forget_joins();
}

// If the deque is not empty, the strand begins on top of another that waits. Then the joins of that strand hold for all entries.
void worker::note_child_of(void const* join) noexcept {
  if (!work.empty()) return;
  void const* const above = far.get() != nullptr ? far.get() : near.get();
  descends_from(join, above != nullptr ? above : join);
}

// A thief has requested work, or the stack is low. Thieves may be at the deque now. Afterwards the strand counts as visible work, and the
// older half of what was private is public, unless a thief holds the deque's lock and takes by force.
bool worker::offer_what_was_requested() noexcept {
  if (work.was_requested() && !work.empty()) {
    if (pool_.steals && !std::exchange(strand.offered, true)) pool_.parking.offer();
    work.publish();
    pool_.naps.end();
    if (observed != nullptr && observed->offered(index_)) [[unlikely]]
      work.request();
  }
  if (observed != nullptr) [[unlikely]]
    observed->polled(index_);
  // A poll that no offer has preceded, at the call of a task, may have taken back the request of mode_changed or continue_in_region.
  if (strand.polls_always || runs_in() != work.all_offered_in()) work.request();
  return stack_pointer() < work.limit();
}

void worker::give_permit_back() noexcept {
  search.may_run = false;
  pool_.limit->give();
}

// Thieves may be at the deque.
void worker::offer_all() noexcept {
  if (work.empty()) return retract_offers();
  if (pool_.steals && !std::exchange(strand.offered, true)) pool_.parking.offer();
  work.publish_all();
  pool_.naps.end();
}

// The ring does not count as visible work yet, or a thief has requested some of it. Thieves may be at the ring. Afterwards it counts, and
// the older half of what was private is public, unless a thief holds the ring's lock and takes by force.
void worker::offer_ready() noexcept {
  if (!pool_.steals) return ready.set_limit(0);
  if (!std::exchange(ready_is_offered, true)) pool_.parking.offer();
  ready.publish();
  pool_.naps.end();
  if (observed == nullptr) [[likely]]
    return;
  if (observed->offered(index_)) ready.request();
  observed->polled(index_);
}

// The ring is empty. Thieves may still look at it, and find nothing. The next make_ready polls, and offers the ring again.
void worker::retract_ready() noexcept {
  if (!std::exchange(ready_is_offered, false)) return;
  ready.request();
  pool_.parking.retract();
}

// ---- A saved strand.

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

// ---- Identity.

void const* current_identity() noexcept {
  fork_state const* const here = state_here();
  if (here->works()) return here;
  // A thread that works for no pool keeps its native stack, so this address stays its own.
  thread_local char thread;
  asm volatile("" ::: "memory");  // so that no caller merges two calls into one
  return &thread;
}

}  // namespace nopal::core

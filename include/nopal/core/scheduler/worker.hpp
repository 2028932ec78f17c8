#pragma once

// A worker: a deque, the strand it runs, and what it needs to find more. Its thread runs the search for work at the base of a native stack; an
// external caller of pool::run may occupy a worker whose thread sleeps. The fork path in order: task/child.hpp starts a child, deque/deque.hpp
// offers the parent, task/cold_path.hpp takes over where that parent was stolen.

#include <atomic>
#include <cstdint>
#include <utility>

#include "nopal/core/base/random.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/deque.hpp"
#include "nopal/core/machine/victim.hpp"
#include "nopal/core/scheduler/blocks.hpp"
#include "nopal/core/scheduler/counters.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/strand.hpp"
#include "nopal/core/sleep/inbox.hpp"
#include "nopal/core/stack/branch.hpp"
#include "nopal/core/stack/orphan_memory.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stack/stack_pool.hpp"

namespace nopal::core {

class event;
struct root;

/// What only the search for work touches: search.cpp.
struct search_state {
  search_state(std::uint64_t seed, unsigned index) noexcept : random{seed, index} {}

  bool searching = false;         ///< the worker's thread counts as a thief
  std::int64_t idle_since = 0;    ///< in nanoseconds; 0: not idle
  std::uint64_t backoff = tuning::shortest_backoff;  ///< pauses before its next search, at least
  unsigned ready_taken = 0;       ///< times that it came for what is ready
  rng random;
  victim_table victims;
};

/// An external caller that occupies the worker in its thread's place: external_caller.cpp.
struct external_caller {
  bool here = false;
  root* job = nullptr;    ///< what it came for
  event* done = nullptr;  ///< that this has ended
};

class NOPAL_API worker : public fork_state {
 public:
  worker(pool_state& pool, unsigned index, std::uint64_t seed);

  deque work;  ///< what the strand has forked

  /// Fibers that were spawned here and stacks that were woken here, for anyone.
  basic_deque<std_sync, places::ring> ready;
  /// Throws std::bad_alloc.
  NOPAL_INLINE void make_room_for_ready() {
    if (ready.must_grow()) [[unlikely]] ready.ensure_room(1);
  }
  /// Adds `r` to what is ready, where there is room, and sees to it that somebody comes for it. By this worker.
  NOPAL_INLINE void make_ready(resumable& r) noexcept {
    ready.push(continuation{r}.word());
    if (ready.must_poll()) [[unlikely]] offer_ready();  // also where it does not yet count as visible work
  }
  NOPAL_COLD void offer_ready() noexcept;
  /// Nothing is ready: that is no visible work, until the next that is made ready offers it again.
  void retract_ready() noexcept;

  /// Where dropped results of one word go: written relaxed by whoever drops one, read by nobody.
  alignas(destructive_size) std::uint64_t sink = 0;

  pool_state& pool() const noexcept { return pool_; }
  unsigned index() const noexcept { return index_; }

  // ---- The running strand.

  core::strand strand;
  /// The root whose strand runs here: a hint for external callers, which only help with their own.
  std::atomic<root*> busy_with{nullptr};

  /// A strand begins, on an empty arena.
  void begin_strand() noexcept;
  /// Nothing is left of the strand.
  void end_strand() noexcept;
  /// No task's frame lies on this stack: see no_tasks. Then forks need not watch how much of it is left: what one of them takes is what any
  /// call would take.
  void begin_without_tasks() noexcept {
    // No task is started here, but by another job: one whose function is called directly finds no parent, and nowhere to put its result.
    parent_word = 0;
    slot = no_slot_;
    alarm = no_tasks;
    work.set_limit_and_request(0);  // the first fork offers itself
  }
  /// A job begins that is an ordinary function, at the base of a stack, where the deque is empty and rewound: before and after.
  NOPAL_INLINE void begin_job() noexcept {
    strand.floor = work.bottom();
    begin_without_tasks();
  }
  NOPAL_INLINE void end_job() noexcept {
    if (strand.offered || !work.rewound()) [[unlikely]] return end_strand();
    busy_with.store(nullptr, std::memory_order_relaxed);  // relaxed: a hint
  }
  /// Lets the deque begin with its first place, where nothing is in it.
  void rewind_if_empty() noexcept {
    if (!work.rewound() && work.empty()) work.rewind();
  }
  /// The index below which pops must not make entries private again: they belong to a strand put aside, or to a parent whose child was the
  /// first in the arena's topmost segment, and nobody would tidy if that pop said yes. (After a strand has moved, a segment's floor is
  /// another deque's index: then no native frame depends on it.)
  deque::index floor() const noexcept;

  /// The owner's answer to must_poll: offers what was requested. True: the native stack is low.
  NOPAL_COLD bool poll() noexcept;
  /// The strand's offers no longer count as visible work.
  void retract_offers() noexcept {
    if (std::exchange(strand.offered, false)) pool_.parking.retract();
  }

  /// Has the native stack room for another strand on top of this one? No while the caller works on a stack that is not ours.
  bool fits_here() const noexcept;
  /// The most entries that one strand has in the deque at once.
  deque::index most_entries() const noexcept { return most_entries_; }
  /// Room in the deque for another strand on top of this one, whatever it nests. Throws std::bad_alloc.
  void make_room_for_strand() {
    if (!work.empty()) work.ensure_room(most_entries_);
  }

  /// Is anything waiting for this worker?
  bool has_more() const noexcept { return !work.empty() || !ready.empty() || !open.empty() || !own.empty(); }
  /// Under a controlled schedule: others may come first here.
  void step() noexcept {
    if (controlled_schedule* const c = pool_.control.get(); c != nullptr) [[unlikely]] c->step(index_);
  }

  stack_cache stacks;
  block_cache blocks;
  orphan_memory orphans;  ///< for what the deque holds when a stack is left
  alignas(destructive_size) counters count;

  // ---- The worker between strands.

  search_state search;
  external_caller caller;
  context* home = nullptr;         ///< the own stack of the thread that works here now, where it leaves to
  context* thread_home = nullptr;  ///< that of the worker's thread
  bool ready_is_offered = false;   ///< what is ready counts as visible work
  inbox open;                      ///< jobs that anyone may take
  inbox own;                       ///< jobs that only this worker's thread may run

 private:
  std::uintptr_t lowest() const noexcept;

  pool_state& pool_;
  unsigned const index_;
  void* const no_slot_;
  deque::index const most_entries_;
};

/// The worker whose strand runs here. Only where one does; never keep the result across anything that can suspend.
NOPAL_INLINE worker* current() noexcept { return static_cast<worker*>(state_here()); }
/// The worker whose strand runs here, or null on a thread that works for no pool now.
inline worker* current_or_null() noexcept {
  fork_state* const s = state_here();
  return s->works() ? static_cast<worker*>(s) : nullptr;
}

}  // namespace nopal::core

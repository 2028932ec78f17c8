#pragma once

// What each worker counts: one number for each kind of event, in one table with its public name. The thread that works as the worker
// counts. Next: scheduler.hpp, which reads the numbers. Below: the strand, memory that nothing uses, the worker, a saved strand.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "nopal/core/architecture/control_words.hpp"
#include "nopal/core/base/random.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/deque.hpp"
#include "nopal/core/machine/victim.hpp"
#include "nopal/core/scheduler/blocks.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/sleep/inbox.hpp"
#include "nopal/core/stack/orphan_memory.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/core/stack/top_wait.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/task/fork_state.hpp"
#include "nopal/stats.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What is counted where it happens. (The numbers of native stacks are counted by stack_pool.)
enum class counted : unsigned char {
  steals,
  steal_attempts,
  suspensions,
  serial_forks,
  sleeps,
  wakeups,
  fibers_spawned,
  fibers_finished,
  switches,
  pauses,
  how_many,
};

/// The member of worker_stats for each counter, in the order of `counted`.
inline constexpr std::array<std::uint64_t worker_stats::*, static_cast<std::size_t>(counted::how_many)> public_counters{
    &worker_stats::steals,   &worker_stats::steal_attempts, &worker_stats::suspensions,    &worker_stats::serial_forks,
    &worker_stats::sleeps,   &worker_stats::wakeups,        &worker_stats::fibers_spawned, &worker_stats::fibers_finished,
    &worker_stats::switches, &worker_stats::pauses,
};

/// Written by the thread that works as the worker, one at a time; read by any thread.
class counters {
 public:
  /// Adds one. `o` is release for fibers_finished, which pairs with the reads of wait_for_all; all others are relaxed, since they order
  /// nothing.
  void add(counted what, std::memory_order o = std::memory_order_relaxed) noexcept {
    auto& c = numbers_[static_cast<std::size_t>(what)];
    c.store(c.load(std::memory_order_relaxed) + 1, o);  // relaxed load: one thread writes at a time
  }
  /// The number so far. `o` is relaxed for statistics, and seq_cst in wait_for_all.
  std::uint64_t read(counted what, std::memory_order o = std::memory_order_relaxed) const noexcept {
    return numbers_[static_cast<std::size_t>(what)].load(o);
  }

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(counted::how_many)> numbers_{};
};

// A strand: what one worker runs between two searches for work, on one native stack and one arena. Its hot fields are where the fork path
// needs them, in fork_state and the deque; the rest is this value. Only the worker that runs it touches it. Next: saved_strand, below,
// which saves both.

struct deferred_start;
struct frame;
struct move_request;
class waiting_task;

/// What the slow paths of a fork tell the loop at the stack's base, and what other workers know of the strand. Default: a strand that has
/// just begun.
struct strand {
  /// What the loop does once every native frame of the strand has unwound.
  enum class next_step : unsigned char {
    nothing,      ///< the task waits at its join
    lost_parent,  ///< `lost`, the parent of the child that ended here, was stolen: the child arrives at its join
    deferred,     ///< `deferred` waits for a stack that is not low
    move,         ///< `moving` goes to another worker
    wait,         ///< `waiting` waits, without a stack
  };

  bool unwinding = false;     ///< every native frame is to return to the loop: the alarm is 0, and no entry of the strand is private
  bool threw = false;         ///< the child that has just ended left `exception`; the alarm is 0, and no entry of the strand is private
  bool not_started = false;   ///< that child never began
  bool offered = false;       ///< the strand has forked where others may see it, and counts as visible work
  bool polls_always = false;  ///< the program changed the mode without telling nopal: each fork looks. Defined while `offered`
  next_step next = next_step::nothing;
  frame* lost = nullptr;
  control_words ended_in{};  ///< the mode in which the child of `lost` has ended
  deferred_start* deferred = nullptr;
  move_request* moving = nullptr;
  waiting_task* waiting = nullptr;
  frame* throwing = nullptr;                           ///< the task whose next await_resume throws: must_throw is for this task
  std::uintptr_t alarm_before = fork_state::no_alarm;  ///< the alarm before an exception set it to 0
  std::exception_ptr exception;
  control_words declared{};  ///< the mode of its code, as far as the program has told. Defined while `offered`
  std::int64_t floor = 0;    ///< the index in the deque where the strand's entries begin: those below belong to saved strands
};

// How a worker and the pool's timer agree on memory that nothing uses. Plain data, in each worker. Next: memory.hpp, which gives that memory
// back.

/// relaxed, all of them: hints. A thread that misses one sees it the next time, since the timer looks again as long as a sleeping worker
/// holds much.
struct spare_memory {
  std::atomic<bool> much{false};       ///< the worker held much when it was left, and has not worked since; written by its owner
  std::atomic<std::uint64_t> uses{0};  ///< how often it was left; written by its owner
  std::atomic<bool> wanted{false};     ///< the timer wants it back
  std::uint64_t uses_before = 0;       ///< at the timer's last look; the timer's
  /// The worker works again, or continues its search. By its owner.
  void works_again() noexcept { much.store(false, std::memory_order_relaxed); }
};

// A worker: a deque, the strand it runs, and what it needs to find more. Its thread runs the search for work at the base of a native stack;
// an external caller of pool::run may occupy a worker whose thread sleeps. "The worker" in a comment is the thread that works as it now.
// Only that thread may call a function whose comment does not say otherwise. Next: search.hpp, what it does between strands; strand, above,
// what it runs.

class event;
struct job;
class top_wait;

/// The state of the search: search.cpp. Also used where stacks stay, by what is due, by permits, yields, pipelines and external callers.
struct search_state {
  search_state(std::uint64_t seed, unsigned index) noexcept : random{seed, index} {}

  bool searching = false;                            ///< the worker's thread counts as a thief
  bool woken = false;                                ///< it has slept, and has found nothing since
  bool looks_for_events = false;                     ///< the thread polls the pool's event source now: take_if_due
  bool leaves_due = false;                           ///< it has found events that the timer is to ask for
  std::int64_t idle_since = 0;                       ///< in nanoseconds; 0: not idle
  std::uint64_t backoff = tuning::shortest_backoff;  ///< pauses before its next search, at least
  /// What only the worker's thread may run and only the thread knows of, the oldest first: the thread has taken it from its inbox `own`, or
  /// put it there itself.
  resumable* own = nullptr;
  resumable* newest_own = nullptr;  ///< undefined where `own` is null
  std::int64_t below_since = 0;     ///< when search_below_join began to find only such, in nanoseconds; 0: not searched so yet
  bool own_was_last = false;        ///< the last thing that the thread ran came from there, not from the ring
  bool own_first = false;           ///< the last search looked there before it looked into the inbox `open`
  top_wait* left = nullptr;         ///< where the thread has left stacks that it should wait on top of, the newest first: stack/home.hpp
  stack* left_in_order = nullptr;   ///< stacks that the thread has left inside nopal::stay, the newest first: stack/home.hpp
  std::int64_t nap = tuning::shortest_nap;  ///< how long its next nap will be, in nanoseconds
  unsigned bound_sleeps = 1;                ///< in a pinned pool: so often the thread will be bound to its CPU while it sleeps
  unsigned ready_taken = 0;                 ///< times that the worker has looked at its ring, for fairness
  unsigned due_taken = 0;                   ///< times that it has looked for what is due, and there was some
  unsigned high_taken = 0;                  ///< how much work of high priority it has begun one after the other
  bool may_run = false;                     ///< the thread has a permit: permits.hpp
  std::int64_t may_run_since = 0;           ///< undefined without a permit
  std::int64_t high_waits_until = 0;        ///< until then it runs other work first, if it finds some; 0: it does not
  rng random;
  victim_table victims;
};

/// The external caller that occupies the worker in its thread's place: submission.cpp.
struct occupant {
  bool here = false;       ///< false: there is none, and the rest means nothing
  job* own_job = nullptr;  ///< what it waits for
  event* done = nullptr;   ///< set when that has ended
};

/// What its owner touches at a fork.
struct worker_at_forks : fork_state {
  worker_at_forks(pool_state& pool, unsigned index) : stacks{pool.stacks, index} {}

  deque work;  ///< what the strand has forked
  /// The stop region in which the strand runs: ../stop/README.md. None while the worker searches; else undefined between strands.
  region_id region = no_region;
  /// What the strand sees by nopal::fiber_local: fiber_values.hpp. Null while the worker searches.
  fiber_values* values = nullptr;
  core::strand strand;
  stack_cache stacks;
};

/// What other threads touch, too. They also touch `work`, `queues` and `spare`, which stand in the other two structs.
struct worker_for_others {
  /// What is ready to run: fibers that this worker has spawned, stacks that it has woken, and jobs from an inbox that it has emptied.
  /// Thieves take the oldest.
  basic_deque<std_sync, places::ring> ready;
  inbox open;                ///< what any worker may take; any thread pushes
  inbox own;                 ///< what only this worker's thread may run; any thread pushes
  core::queues queues_here;  ///< in a pool that does not steal
  due_queue due_own;         ///< those that only this worker's thread may run
  /// Where dropped results of one word are stored. Any thread that ends a child without a slot writes it, relaxed, since it is never read.
  alignas(destructive_size) std::uint64_t sink = 0;
  alignas(destructive_size) counters count;  ///< written by the worker, read by any thread
  /// The job whose strand runs here: a hint, for external callers, which help with their own job only. Written by the worker, read by every
  /// thief that tries it: so it is not on a line that the owner writes at each fork.
  std::atomic<job*> busy_with{nullptr};
  /// Joins that the entries of the deque descend from: the nearest that is known, and the farthest, which the nearest descends from.
  descent near, far;
  std::atomic<bool> stalled{false};  ///< the thread has run only its own work for long; any thread reads it
  std::atomic<int> sleeps_on{-1};    ///< the CPU on which the worker's thread fell asleep last: a hint, for external callers
};

/// What the worker uses between strands, and where it leaves its stack.
struct worker_between_strands {
  worker_between_strands(pool_state& pool, unsigned index, std::uint64_t seed, core::queues& of_worker)
      : search{seed, index}, queues{pool.steals ? &pool.queues : &of_worker}, blocks{pool.blocks} {}

  search_state search;
  core::occupant occupant;
  context* began_on = nullptr;           ///< the stack on which the thread that works here now began: resumed when its search for work ends
  context* thread_began_on = nullptr;    ///< the stack on which the worker's thread began
  void const* began_on_frame = nullptr;  ///< an address on the stack `began_on`, for LeakSanitizer
  void const* thread_began_on_frame = nullptr;  ///< an address on the stack `thread_began_on`
  std::int64_t next_outermost_poll = 0;         ///< polled_fork_ended: the time from which on another is due
  std::int64_t next_interruption = 0;           ///< due.cpp: the time from which on the strand may be saved again
  bool ready_is_offered = false;                ///< the ring counts as visible work
  core::queues* queues;                         ///< the pool's, or in a pool that does not steal queues_here
  block_cache blocks;
  orphan_memory orphans;       ///< for the tasks in the deque when a stack is left
  region_cache spare_regions;  ///< for the branches that the worker steals
  spare_memory spare;          ///< what goes back to the system later
};

class NOPAL_API worker : public worker_at_forks, public worker_for_others, public worker_between_strands {
 public:
  worker(pool_state& pool, unsigned index, std::uint64_t seed);

  /// Makes room in the ring for one more. Throws std::bad_alloc.
  NOPAL_INLINE void make_room_for_ready() {
    if (ready.must_grow()) [[unlikely]]
      ready.ensure_room(1);
  }
  /// Adds `r` to what is ready, if there is room, and makes sure that some worker finds it.
  NOPAL_INLINE void make_ready(resumable& r) noexcept {
    ready.push(continuation{r}.word());
    if (ready.must_poll()) [[unlikely]]
      offer_ready();  // also if it does not yet count as visible work
  }
  /// Counts the ring as visible work if it is not counted yet, and makes some of its entries public. Does nothing in a pool that does not
  /// steal.
  NOPAL_COLD void offer_ready() noexcept;
  /// Takes back the newest ready entry, which is to run next. If a thief has requested some of the rest, offers that first. False: thieves
  /// were faster, and nothing is ready.
  NOPAL_INLINE bool pop_ready() noexcept {
    if (!ready.pop() && !ready.pop_slow()) return false;
    if (ready.must_poll() && !ready.empty()) [[unlikely]]
      offer_ready();
    return true;
  }
  /// The ring is empty: it no longer counts as visible work, until make_ready offers it again.
  void retract_ready() noexcept;

  observer* const observed;  ///< the pool's, which gets a call for each event here; null: none

  pool_state& pool() const noexcept { return pool_; }
  unsigned index() const noexcept { return index_; }

  /// A strand begins, on an empty arena, on a deque that has room for most_entries().
  void begin_strand() noexcept;
  /// The strand has nothing left: its offers no longer count as visible work.
  void end_strand() noexcept;
  /// Ordinary functions have run in the strand before its job: what begin_strand says of tasks holds again.
  void begin_strand_again() noexcept;
  /// An ordinary function begins on this stack, which has no task's frame: see fork_state::no_tasks. Its forks need not watch how much of
  /// the stack is left, since a fork of an ordinary function takes no more of it than any call.
  void begin_without_tasks() noexcept {
    // A coroutine function that is called directly here finds no parent and no slot, and ends the program with a message.
    parent_word = 0;
    slot = no_slot_;
    alarm = here->stays != 0 ? no_alarm : alarm_without_tasks();
    work.set_limit_and_request(0);  // the first fork offers itself
  }
  /// A job that is an ordinary function (a fiber) begins at the base of a stack. The deque is empty and rewound, also at end_job.
  NOPAL_INLINE void begin_job() noexcept {
    // Usually a fiber that has just ended here has left all as it must be. Comparing costs less than writing the same values again: the
    // atomic operation that ends a fiber waits for each store before it.
    if (strand.floor == work.bottom() && parent_word == 0 && slot == no_slot_ && alarm == alarm_without_tasks() && work.limit() == 0) {
      return work.request();
    }
    strand.floor = work.bottom();
    begin_without_tasks();
  }
  NOPAL_INLINE void end_job() noexcept {
    if (strand.offered || !work.rewound()) [[unlikely]]
      return end_strand();
    busy_with.store(nullptr, std::memory_order_relaxed);  // relaxed: a hint
    forget_joins();
  }
  /// Puts the next entry at the first place of the deque's buffer, if the deque is empty.
  void rewind_if_empty() noexcept {
    if (!work.rewound() && work.empty()) work.rewind();
  }
  /// The index below which pops must not make entries private again. An entry below it belongs to a saved strand; or it is a parent whose
  /// child was the first in the arena's topmost segment: if its pop succeeded at once, the arena would not be tidied. (After a strand has
  /// moved, a segment's floor is an index of another deque. No native frame depends on it then.)
  deque::index floor() const noexcept;

  /// The worker's slow path when must_poll is true: runs what is due, and offers what a thief has requested. True: the native stack is low.
  /// Another worker may run the caller afterwards. By the current worker.
  NOPAL_COLD static bool poll() noexcept;
  /// The strand waits where it is: offers all that it has forked, since it will not poll.
  NOPAL_COLD void offer_all() noexcept;
  /// The context in which the strand runs.
  strand_context runs_in() const noexcept { return {job_context::now(region), values}; }
  /// What begins here, or continues, runs in `c`.
  void adopt(strand_context const& c) noexcept {
    c.mode.adopt();
    region = c.region;
    values = c.values;
  }
  /// The strand continues in `c`, and will offer in it.
  void continue_in(strand_context const& c) noexcept {
    adopt(c);
    work.request();  // the next fork polls: may_offer_here
  }
  /// The strand's offers no longer count as visible work.
  void retract_offers() noexcept {
    if (std::exchange(strand.offered, false)) pool_.parking.retract();
  }

  /// True if the stack that runs here must stay with its thread. stack/home.hpp.
  bool stack_stays() const noexcept { return here->stays != 0 || pool_.resume == resume::home; }
  /// True if the thread waits on top of a stack, or has left a stack on top of which it should wait.
  bool waits_on_top() const noexcept { return here->on_top != 0 || search.left != nullptr; }
  /// True if the native stack has room for another strand on top of this one. False on a stack that the program made itself.
  bool fits_here() const noexcept;
  /// The most entries that one strand has in the deque at once.
  deque::index most_entries() const noexcept { return most_entries_; }
  /// Makes room in the deque for another strand on top of this one, however deep that nests. Throws std::bad_alloc.
  void make_room_for_strand() {
    if (!work.empty()) work.ensure_room(most_entries_);
  }

  /// Appends `r` to what only this worker's thread may run. By that thread.
  void add_own(resumable& r) noexcept {
    r.next = nullptr;
    (search.own != nullptr ? search.newest_own->next : search.own) = &r;
    search.newest_own = &r;
  }
  /// Appends what the inbox `own` holds to that. By that thread.
  void take_own() noexcept {
    for (resumable* r = own.take_all(); r != nullptr;) {
      resumable* const next = r->next;
      add_own(*r);
      r = next;
    }
  }
  /// The worker's thread pauses, at the base of a native stack or on top of one that waits: gives its permit back, if it has one.
  void give_permit() noexcept {
    if (search.may_run) [[unlikely]]
      give_permit_back();
  }
  /// True if a stack is due that this worker may run: due.hpp. A hint.
  bool has_stack_due() const noexcept { return !queues->due.looks_empty() || !due_own.looks_empty(); }
  /// True if this worker's deque, ring or inboxes hold anything.
  bool has_more() const noexcept {
    return !work.empty() || !ready.empty() || !open.empty() || !own.empty() || search.own != nullptr || !queues->empty() ||
           !due_own.empty();
  }

  /// A child of `join` begins here, or a job that is waited for there. The thief has already set what the child descends from.
  void begin_child_of(void const* join) noexcept {
    if (pool_.stacks_stay.load(std::memory_order_relaxed)) [[unlikely]]
      note_child_of(join);  // relaxed: a hint
  }
  /// A thread that has pinned the near one reads the far one that belongs to it. So the far one changes only while the near one is null.
  void descends_from(void const* nearest, void const* farthest) noexcept {
    if (farthest != far.get()) {
      near.set(nullptr);
      far.set(farthest);
    }
    near.set(nearest);
  }
  /// The thread has found something to run that descends from its join, or the join is complete.
  void makes_progress() noexcept {
    search.below_since = 0;
    stalled.store(false, std::memory_order_relaxed);  // relaxed: a hint
  }
  /// The strand has ended or was left: the deque is empty.
  void forget_joins() noexcept {
    if (near.get() != nullptr || far.get() != nullptr) [[unlikely]]
      descends_from(nullptr, nullptr);
  }

 private:
  std::uintptr_t lowest() const noexcept;
  bool offer_what_was_requested() noexcept;
  NOPAL_COLD void give_permit_back() noexcept;
  NOPAL_COLD void note_child_of(void const* join) noexcept;
  // A pool where stacks stay forks no scope by the fast path. For the base of a stack; elsewhere nopal::stay may live on it.
  std::uintptr_t alarm_without_tasks() const noexcept { return pool_.resume == resume::anywhere ? no_tasks : no_alarm; }

  pool_state& pool_;
  unsigned const index_;
  void* const no_slot_;
  deque::index const most_entries_;
};

/// The worker whose strand runs here. Only if there is one; never keep the result across anything that can suspend.
NOPAL_INLINE worker* current() noexcept { return static_cast<worker*>(state_here()); }
/// The worker whose strand runs here, or null on a thread that works for no pool now.
inline worker* current_or_null() noexcept {
  fork_state* const s = state_here();
  return s->works() ? static_cast<worker*>(s) : nullptr;
}

// A saved strand: a job runs on top of it, or its stack is suspended. Only the worker that runs the strand saves it. Why each part is
// saved, and what holds until it is restored: README.md, "A saved strand". Next: stack/suspension.hpp, which leaves a stack.

/// Saves the strand that runs on the worker, in a frame of its native stack. Until the destructor another strand may run on the worker, on
/// an arena of its own. The destructor restores the saved strand on the worker that runs this stack then.
class saved_strand {
 public:
  explicit saved_strand(worker& w) noexcept;
  saved_strand(saved_strand const&) = delete;
  saved_strand& operator=(saved_strand const&) = delete;
  ~saved_strand();

 private:
  worker const* const from_;
  strand cold_;
  // The strand's parts in fork_state and the deque, where the fork path needs them.
  stacklet* const arena_;
  std::uint64_t const epoch_;
  std::uintptr_t const alarm_;
  std::uintptr_t const limit_;
  std::uintptr_t const parent_word_;
  void* const slot_;
  job* const busy_with_;
  void const* const near_;
  void const* const far_;
  strand_context const context_;
};

}  // namespace nopal::core

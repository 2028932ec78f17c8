#pragma once

// A worker: a deque, the strand it runs, and where it looks for more. Its thread sits in the scheduler's loop at the base of a
// native stack; a caller of pool::run may borrow a worker whose thread sleeps.
// The fork path in order: task.hpp starts a child, deque.hpp offers the parent, back here when that parent was stolen.

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "nopal/core/task/arena.hpp"
#include "nopal/core/scheduler/blocks.hpp"
#include "nopal/core/stack/branch.hpp"
#include "nopal/core/stack/children.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/deque.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/sleep/inbox.hpp"
#include "nopal/core/base/random.hpp"
#include "nopal/core/scheduler/root.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/scheduler/fork_state.hpp"
#include "nopal/core/machine/victim.hpp"
#include "nopal/stats.hpp"

namespace nopal::core {

class scheduler;

/// Arguments of a child that was not started because the native stack ran low. It lies in the arena and is started by the
/// worker loop, at the stack's base.
struct thunk {
  void (*start)(thunk*);
  frame* parent;
  kind how;
};

/// A continuation without a place in any deque.
struct loose_continuation : job {
  continuation what;
  explicit loose_continuation(continuation c) noexcept : what{c} {}
};

/// Memory for the continuations that a deque holds, got before they are given away: who has begun to leave a stack cannot fail any more.
class NOPAL_API loose_continuations {
 public:
  loose_continuations() noexcept = default;
  loose_continuations(loose_continuations&& o) noexcept : first_{std::exchange(o.first_, nullptr)}, count_{std::exchange(o.count_, 0)} {}
  loose_continuations& operator=(loose_continuations&&) = delete;
  ~loose_continuations() { clear(); }
  /// For all that is in `d`, by its owner. False: there is none for some; what there was is kept for the next try.
  bool get(deque const& d) noexcept;
  loose_continuation& take(continuation c) noexcept {
    --count_;
    job* const j = std::exchange(first_, first_->next);
    return *::new (static_cast<void*>(j)) loose_continuation{c};
  }
  void clear() noexcept;

 private:
  job* first_ = nullptr;
  deque::index count_ = 0;
};

/// A task on its way to another worker (resume_on).
struct move_job : job {
  frame* task;
  worker* to;
  loose_continuations memory;  ///< for its ancestors, until it is sent
};

class NOPAL_API worker : public fork_state {
  enum class after { nothing, arrival, thunk, move };

 public:
  worker(scheduler& pool, unsigned index, std::uint64_t seed, stacklet_depot& depot, stack_pool& stacks, block_depot& blocks);

  deque work;

  /// Closures that were spawned here and stacks that were woken here, for anyone.
  basic_deque<std_sync, places::ring> ready;
  /// Throws std::bad_alloc.
  NOPAL_INLINE void make_room_for_ready() {
    if (ready.must_grow()) [[unlikely]] ready.ensure_room(1);
  }
  /// Adds to it, where there is room, and sees to it that somebody comes for it.
  NOPAL_INLINE void make_ready(job& j) noexcept {
    ready.push(continuation{&j}.word());
    if (ready.must_look()) [[unlikely]] offer_ready();  // also where it does not yet count as demand
  }
  NOPAL_COLD void offer_ready() noexcept;

  /// A job that runs an ordinary function at the base of a stack, where the deque is empty and rewound: before and after.
  NOPAL_INLINE void begin_job() noexcept {
    floor_ = work.bottom();
    begin_without_tasks();
  }
  NOPAL_INLINE void end_job() noexcept {
    if (offered_ || !work.rewound()) [[unlikely]] return end_strand();
    busy_with.store(nullptr, std::memory_order_relaxed);
  }

  /// Where dropped results of one word go: written relaxed by whoever drops one, read by nobody.
  alignas(destructive_size) std::uint64_t sink = 0;

  scheduler& pool() const noexcept { return pool_; }
  unsigned index() const noexcept { return index_; }

  // ---- The cold ends of the fork path. True: the parent stays suspended and the caller returns to the loop.

  /// A forked child of `p` returned and pop() said no. Throws only what belongs at this fork: a child that could not start.
  NOPAL_COLD bool forked_returned(frame* p);
  /// A called child of `p` returned, disturbed.
  NOPAL_COLD bool called_returned(frame* p) noexcept;
  /// Throws the exception that the task which was just resumed is to see, from its await_resume. Only after must_throw() has said yes.
  [[noreturn]] NOPAL_COLD void rethrow();
  /// `p` is suspended at a join after it was stolen, or has an exception waiting.
  NOPAL_COLD bool join(frame* p) noexcept;
  /// The same, and throws what is due if the task need not suspend.
  NOPAL_COLD bool join_or_throw(frame* p);
  /// `p` is suspended with an error of its own to be thrown once its children have ended.
  NOPAL_COLD bool fail(frame* p, std::exception_ptr e) noexcept;
  /// `p` is suspended and wants to go on at m.to. Throws std::bad_alloc.
  NOPAL_COLD bool move(move_job& m);

  /// must_look said yes. True: the native stack is low, and the caller parks its child's arguments with park().
  NOPAL_COLD bool look() noexcept;
  /// Before the thunk is made: room in the deque. Throws std::bad_alloc.
  NOPAL_COLD void prepare_to_park();
  /// The child waits in `t`; every native frame unwinds.
  NOPAL_COLD void park(thunk* t) noexcept;

  /// Arena memory for something other than a coroutine's frame; release it by arena.release and arena.tidy.
  NOPAL_COLD void* allocate_in_body(std::size_t n);

  /// An exception left a child's body, or its start: std::current_exception().
  NOPAL_COLD void child_threw() noexcept;
  NOPAL_COLD void start_threw() noexcept;

  /// No fork pushes less than a return address and a word onto the native stack, of which forks and calls nest into `nesting` bytes
  /// before they go on at its base.
  static constexpr std::uintptr_t nesting = 64 * 1024;
  static constexpr deque::index most_nested_forks = nesting / 16;
  /// Nor does a fork of an ordinary function take less of it than its branch.
  static constexpr std::size_t least_native_fork = sizeof(branch);

  // ---- Ordinary functions that fork: native.hpp.

  /// must_look said yes at a fork of an ordinary function. False: so little is left of the native stack, or of memory for another,
  /// that the function must do without forks.
  NOPAL_COLD bool may_fork_natively() noexcept;
  /// Then, with the branch in the deque: answers whoever asked, and lets the function's own forks use the native stack as far as
  /// it is safe. The caller sets the limit again that it found.
  NOPAL_COLD void look_natively() noexcept;
  /// pop() said no after the first half of a fork. False: the branch is ours after all, and the caller runs it. True: it was stolen
  /// and has ended, and its exception is thrown.
  NOPAL_COLD static bool lost(branch& b);
  /// The first half has thrown: the branch is forgotten or, if it was stolen, waited for, and its own exception dropped.
  NOPAL_COLD static void give_up(branch& b) noexcept;

  /// No task's frame lies on this stack: see no_tasks. Then forks need not watch how much of it is left: what one of them takes is
  /// what any call would take.
  void begin_without_tasks() noexcept {
    // No task is started here, but by another job: one whose function is called directly finds no parent, and nowhere to put its result.
    parent_word = 0;
    slot = no_slot_;
    alarm = no_tasks;
    work.set_limit_and_ask(0);  // the first fork offers itself
  }

  // ---- Scopes: scope.hpp.

  /// With no_tasks: may a scope fork here in the fast way?
  NOPAL_INLINE bool may_leave_stack() const noexcept {
    return !work.must_look() && !work.must_grow() && !stacks.empty() && handles_none();
  }
  /// The same fork in whatever state the worker is.
  NOPAL_COLD static void fork_slowly(child& c, child::starter start);
  /// The parent's stack goes on after a fast fork in which it was stolen.
  NOPAL_COLD static void parent_stolen(children& c, arrival* a) noexcept;
  /// A child left std::current_exception().
  NOPAL_COLD static void child_threw(children& c, std::uint64_t epoch) noexcept;
  /// That child has taken its parent back.
  NOPAL_COLD static void child_had_thrown(children& c) noexcept;
  /// The child has ended and pop() said no. Returns if the parent is ours after all.
  NOPAL_COLD static void parent_lost(children& c) noexcept;
  /// Waits for the children, and takes the exception that is due. state is not 0.
  NOPAL_COLD static std::exception_ptr join_children(children& c) noexcept;

  // ---- Stacks. Whoever leaves one offers nothing: what was in the deque goes where others find it.

  /// What happens once a stack has been left: on another stack, by the same worker.
  struct departure : arrival {
    stack* left;
    waits_for why;
    bool reclaims;  ///< gives back what lies unused below
    /// Lets others go on with `left`; from then on neither that nor this may be touched. True: nobody will, go on with it here.
    bool (*publish)(departure&) noexcept;
  };
  /// Leaves the stack that runs here until somebody goes on with it. The worker may be another one afterwards. False: no memory for
  /// the stack that this worker would need.
  static bool suspend(departure& d) noexcept;
  /// The same with a closure, which is told the stack that was left.
  template <class Publish>
  static bool suspend(waits_for why, bool reclaims, Publish publish) noexcept {
    static_assert(std::is_nothrow_invocable_r_v<bool, Publish&, stack&>);
    struct calls : departure {
      Publish* closure;
    } d;
    d.why = why;
    d.reclaims = reclaims;
    d.closure = &publish;
    d.publish = [](departure& x) noexcept { return (*static_cast<calls&>(x).closure)(*x.left); };
    return suspend(d);
  }
  /// From the base of the stack that runs here, which is free then.
  [[noreturn]] static void go_on_with(stack& s) noexcept;
  /// Empties the deque and rewinds it: others go on with what was offered.
  void give_everything_away(loose_continuations& memory) noexcept;

  // ---- Strands. The deque holds nothing private, the arena is empty; so they are again afterwards.

  /// Before a strand begins on top of another one: room in the deque for whatever it nests. Throws std::bad_alloc.
  void make_room_for_strand() {
    if (!work.empty()) work.ensure_room(most_entries_);
  }
  /// Runs a root from its start until this worker has nothing left of it.
  void run(root& r) noexcept;
  /// Runs a stolen continuation: a task, a branch or a stack.
  void run_stolen(continuation c) noexcept;
  /// Goes on with a task that came from elsewhere with its arena.
  void run_moved(frame* f) noexcept;

  /// Has the native stack room for another strand on top of this one? No while the caller works on a stack that is not ours.
  bool fits_here() const noexcept;

  stack_cache stacks;
  block_cache blocks;

  // ---- Counters, written by whoever works as this worker, read by anyone.
  struct counters {
    std::atomic<std::uint64_t> steals{0}, steal_attempts{0}, suspensions{0}, serial_forks{0}, sleeps{0}, wakeups{0},
        fibers_spawned{0}, fibers_finished{0}, switches{0};
    static void add(std::atomic<std::uint64_t>& c, std::memory_order o = std::memory_order_relaxed) noexcept {
      c.store(c.load(std::memory_order_relaxed) + 1, o);  // one writer
    }
  };
  alignas(destructive_size) counters count;

  /// While alive, the strand on this worker is put aside and another may run on top of it, on an arena of its own.
  class aside {
   public:
    explicit aside(worker& w) noexcept;
    aside(aside const&) = delete;
    aside& operator=(aside const&) = delete;
    ~aside();

   private:
    worker* worker_;
    stacklet* arena_;
    std::uint64_t mark_;
    std::uintptr_t alarm_;
    std::uintptr_t limit_;
    bool offered_;
    root* busy_with_;
    deque::index floor_;
    std::uintptr_t parent_word_;
    void* slot_;
    bool unwinding_;
    bool threw_;
    bool not_started_;
    after after_;
    frame* lost_;
    thunk* parked_;
    move_job* moving_;
    std::uintptr_t alarm_before_;
    frame* throwing_;
    std::exception_ptr exception_;
  };

  /// The root whose strand runs here, as a hint for callers that may only help with their own.
  std::atomic<root*> busy_with{nullptr};

 private:
  friend class scheduler;

  static void leave_for(departure& d, stack& next) noexcept;
  static void run_child(context& c) noexcept;
  static bool fork_on(stack& s, child& c, child::starter start) noexcept;
  static void note_steal(children& c) noexcept;

  /// How far the native stack may grow, from here, by the forks of a strand.
  std::uintptr_t lowest() const noexcept;
  bool has_room_on_foreign_stack() noexcept;
  void rewind_if_empty() noexcept;
  void begin_strand() noexcept;
  static void strand(frame* f, thunk* t) noexcept;
  std::pair<frame*, thunk*> after_unwinding() noexcept;
  void root_ended(root& r) noexcept;
  void end_strand() noexcept;
  static void wait_at(join_word& j, std::int64_t n, stack*& waiting) noexcept;
  static bool wait_for(branch& b) noexcept;
  /// Goes on with the stack that waits for it, if there is one.
  void run_branch(branch& b) noexcept;
  bool unwind(after why) noexcept;
  void settle() noexcept;
  void must_throw_into(frame* p) noexcept;
  frame* ended(std::uintptr_t parent_of_it) noexcept;
  frame* arrive(frame* p) noexcept;
  frame* resumable(frame* p) noexcept;
  void keep_exception(frame* p, std::uint64_t epoch) noexcept;
  /// A child of `p`, which is ours, left exception_: p's next join or call throws it.
  void child_failed(frame* p) noexcept;
  void send_away(move_job& m) noexcept;
  deque::index floor() const noexcept;

  scheduler& pool_;
  unsigned index_;
  void* no_slot_;

  deque::index most_entries_;
  deque::index floor_ = 0;  ///< where this strand's entries begin in the deque

  // Between a cold end and the loop.
  bool unwinding_ = false;     ///< alarm is 0 and nothing in the deque is private
  bool threw_ = false;         ///< the child that just ended left exception_; alarm is 0 and nothing in the deque is private
  bool not_started_ = false;   ///< that child never began
  bool looking_ = false;       ///< its thread counts as a thief
  bool guest_ = false;         ///< a calling thread works in its thread's place
  context* home_ = nullptr;         ///< the own stack of the thread that works here now, where it leaves to
  context* thread_home_ = nullptr;  ///< that of the worker's thread
  root* guest_for_ = nullptr;       ///< what a guest came for
  event* guest_done_ = nullptr;
  std::int64_t idle_since_ = 0;     ///< 0: not idle
  bool offered_ = false;       ///< this strand has forked: it counts as demand
  bool ready_is_offered_ = false;   ///< `ready` counts as demand
  unsigned ready_taken_ = 0;
  std::uint64_t backoff_ = 4;       ///< pauses before its next look, at least
  after after_ = after::nothing;
  frame* lost_ = nullptr;      ///< after::arrival: a child of it ended here
  thunk* parked_ = nullptr;    ///< after::thunk
  move_job* moving_ = nullptr; ///< after::move
  frame* throwing_ = nullptr;  ///< must_throw is for this one
  std::uintptr_t alarm_before_ = no_alarm;  ///< what alarm was before an exception set it to 0
  std::exception_ptr exception_;
  loose_continuations loose_;  ///< for what the deque holds when a stack is left

  rng random_;
  victim_table victims_;
  inbox open_;     ///< jobs that anyone may take
  inbox private_;  ///< jobs that only this worker's thread may run
};

NOPAL_INLINE worker* current() noexcept { return static_cast<worker*>(state_here()); }
inline worker* current_or_null() noexcept {
  fork_state* const s = state_here();
  return s->works() ? static_cast<worker*>(s) : nullptr;
}

}  // namespace nopal::core

// What a fork that polls does: the context of a deque follows that of the strand. Below: the slow path of parallel_invoke's forks.

#include "nopal/core/stack/native_fork.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/stack/join_wait.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/stop/later.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

// Thieves may be at the deque. Its entries have the deque's context. They go where any worker may take them, as if they were stolen: the
// oldest first, as always. The strand loses nothing by that: thieves would have taken the new entries last.
bool may_offer_here(worker& w) noexcept {
  strand_context const here = w.runs_in();
  bool const outermost = w.work.empty();
  if (!w.strand.offered) w.strand.polls_always = false;
  // The mode was changed below a fork without a call to nopal: it may change again in this way, between two forks.
  if (w.strand.offered && here.mode != w.strand.declared && !outermost) w.strand.polls_always = true;
  w.strand.declared = here.mode;
  if (here == w.work.all_offered_in()) return true;
  if (!outermost) {
    if (!w.orphans.get(w.work)) return false;
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

// The slow path of parallel_invoke's forks: work was requested, the stack is low, or the branch was stolen.

// Makes room in the deque for the forks that fit into the next `nesting` bytes of a foreign stack. The size of our own stacks bounds how
// many forks nest on one; that of a foreign stack is unknown.
static bool has_room_on_foreign_stack(worker& w) noexcept {
  if (!w.work.must_grow()) return true;
  try {
    w.work.ensure_room(w.most_entries());
    return true;
  } catch (std::bad_alloc const&) {
    return false;
  }
}

bool may_fork_natively(worker& w) noexcept {
  if (std::uintptr_t const sp = stack_pointer(); w.here->holds(sp)) {
    if (sp <= w.here->fork_limit()) return false;
  } else if (!has_room_on_foreign_stack(w)) {
    w.count.add(counted::serial_forks);
    return false;
  }
  if (w.stacks.empty()) {  // for a join that waits
    stack* const s = w.stacks.get();
    if (s == nullptr) {
      w.count.add(counted::serial_forks);
      return false;
    }
    w.stacks.put(s);
  }
  return may_offer_here(w);
}

void poll_natively() noexcept {
  bool const low = worker::poll();
  worker& w = *current();
  if (std::uintptr_t const sp = stack_pointer(); !w.here->holds(sp)) {
    w.work.set_limit_back(sp - tuning::nesting);  // has_room_on_foreign_stack made room down to here: a fork further down polls again
  } else if (low) {
    w.work.set_limit_back(w.here->fork_limit());
  }
}

// The pop of a branch failed: its entry is no longer private, and thieves may be at the deque. False: the entry is still there, and the
// branch is the caller's. True: a thief runs the branch, and the deque is empty; the worker has waited, on another stack, until the thief
// has arrived, and may be another one now. `drops`: the result of the branch will be dropped.
static bool wait_if_stolen(branch& b, bool drops) noexcept {
  {
    worker& w = *current();
    if (w.work.pop_slow(w.floor())) return false;
    w.work.rewind();  // the branch was stolen, and with it all older entries
    if (drops) b.join.ask();
  }
  wait_at_join(b.join, 1, b.waiting);
  current()->work.request();                                  // as polled_fork_ended
  if (b.runs_in.mode != control_words::now()) die_of_mode();  // the thief's mode against the one in which the first half has ended
  return true;
}

// The first half has returned, and a thief may have the branch. Afterwards no other worker knows of the branch.
bool branch_lost(branch& b) {
  if (!wait_if_stolen(b, false)) return false;
  if (b.join.reset()) {
    std::exception_ptr const e = std::move(b.error());
    std::destroy_at(&b.error());
    std::rethrow_exception(e);
  }
  return true;
}

// The first half has thrown, and a thief may have the branch. Afterwards no other worker knows of the branch, and it may be destroyed.
void give_up(branch& b) noexcept {
  if (current()->work.pop() || !wait_if_stolen(b, true)) return;
  if (b.join.reset()) std::destroy_at(&b.error());
}

// A branch on the stack of a scope's function is a part of that function, and no later child of the scope.
static region_id region_of_branch(branch const& b) noexcept {
  if (b.runs_in.region == no_region) return no_region;
  stop_region const& r = region_of(b.runs_in.region);
  bool const is_own = r.children_of() != nullptr && r.parents_stack()->holds(reinterpret_cast<std::uintptr_t>(&b));
  return is_own ? r.outer() : b.runs_in.region;
}

// A worker has taken the branch from a deque or an inbox. The branch is in the frame of its owner, which runs the first half, or waits, or
// is about to wait. Once this worker has arrived the branch may be gone, unless the owner waits: then this worker resumes the owner's
// stack.
void run_stolen_branch(worker& w, branch& b, void (*body)(branch&)) noexcept {
  tell::strand_begins(w, strand_kind::branch, body);
  w.adopt(b.inherited());
  w.region = region_of_branch(b);
  w.begin_strand();
  w.begin_without_tasks();
  w.begin_child_of(&b.join);
  std::uintptr_t const below = std::exchange(w.here->origin, reinterpret_cast<std::uintptr_t>(&b));
  {
    later_region const later{w, b.join};
    try {
      body(b);
    } catch (...) {
      b.join.record([&](bool) { b.keep(caught()); });
    }
  }
  current()->here->origin = below;
  current()->end_strand();
  tell::must_come_in_order(*current());
  if (b.join.arrive()) resume(b.waiting);
}

}  // namespace nopal::core

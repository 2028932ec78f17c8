#include "nopal/core/stack/native_fork.hpp"

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/stack/suspension.hpp"

namespace nopal::core {

// The size of our stacks bounds how many forks nest on one; that of a foreign stack is unknown. Room for the next `nesting` bytes of it.
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
  if (w.stacks.empty()) {  // a join that waits will want one
    stack* const s = w.stacks.get();
    if (s == nullptr) {
      w.count.add(counted::serial_forks);
      return false;
    }
    w.stacks.put(s);
  }
  return true;
}

void poll_natively(worker& w) noexcept {
  bool const low = w.poll();
  if (std::uintptr_t const sp = stack_pointer(); !w.here->holds(sp)) {
    w.work.set_limit(sp - tuning::nesting);  // the deque has room for so many forks: the next one polls again, see has_room_on_foreign_stack
  } else if (low) {
    w.work.set_limit(w.here->fork_limit());
  }
}

// The entry is no longer private. Either thieves have left it, and it is the caller's; or a thief runs the branch, and the deque is empty: then
// this stack is left until the thief has arrived. False: it is the caller's.
static bool wait_if_stolen(branch& b) noexcept {
  {
    worker& w = *current();
    if (w.work.pop_slow(w.floor())) return false;
    w.work.rewind();  // it was stolen, and with it all below
  }
  wait_at_join(b.join, 1, b.waiting);
  return true;
}

bool branch_lost(branch& b) {
  if (!wait_if_stolen(b)) return false;
  if (b.join.reset()) {
    std::exception_ptr const e = std::move(b.error());
    std::destroy_at(&b.error());
    std::rethrow_exception(e);
  }
  return true;
}

void give_up(branch& b) noexcept {
  if (current()->work.pop() || !wait_if_stolen(b)) return;
  if (b.join.reset()) std::destroy_at(&b.error());
}

// The branch lies in the frame of its owner, who runs the first half, or waits, or is about to. From the arrival on it may be gone, unless the
// owner waits: then this worker resumes him.
void run_stolen_branch(worker& w, branch& b, void (*body)(branch&)) noexcept {
  w.begin_strand();
  w.begin_without_tasks();
  try {
    body(b);
  } catch (...) {
    b.join.record([&](bool) { b.keep(std::current_exception()); });
  }
  current()->end_strand();
  if (b.join.arrive()) resume_stack(*b.waiting);
}

}  // namespace nopal::core

#include "nopal/core/stack/suspension.hpp"

#include <cassert>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/saved_strand.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/give_away.hpp"

namespace nopal::core {

// On the next stack: the one that was left is wholly saved. Reports see that it waits; its pages go back before anybody can need them; and as
// soon as it is published another worker may run it.
static void publish_left_stack(after_switch& a) noexcept {
  auto& s = static_cast<suspension&>(a);
  stack& left = *s.left;
  left.begins_to_wait(s.why);
  if (s.reclaims) current()->pool().stacks.give_back_below(left, left.sp);
  current()->step();
  if (s.publish(s)) resume_stack(left);
}

static void leave_for(suspension& s, stack& next) noexcept {
  worker& w = *current();
  w.busy_with.store(nullptr, std::memory_order_relaxed);  // relaxed: a hint
  w.here = &next;
  switch_to(*s.left, next, &s);
}

// Until the switch nobody but thieves at the deque knows of the stack. Afterwards this function runs on, maybe by another worker, whose deque
// is empty, and whose arena too.
bool suspend(suspension& s) noexcept {
  worker& w = *current();
  if (!w.work.empty() && !w.orphans.get(w.work)) return false;
  stack* const next = w.stacks.get();
  if (next == nullptr) return false;
  w.count.add(counted::suspensions);
  w.count.add(counted::switches);
  give_everything_away(w, w.orphans);
  w.retract_offers();
  s.left = w.here;
  s.left->body = nullptr;  // whoever resumes it is not where it began
  s.run = publish_left_stack;
  next->begin(w.pool().call.search);
  if (w.alarm == worker::no_tasks) {
    root* const busy = w.busy_with.load(std::memory_order_relaxed);  // relaxed: a hint
    leave_for(s, *next);
    current()->begin_job();
    current()->busy_with.store(busy, std::memory_order_relaxed);
  } else {
    saved_strand const strand{w};
    leave_for(s, *next);
  }
  return true;
}

[[noreturn]] static void die_resumed_twice() noexcept {
  die("a native stack that was given back was resumed; this is a fault of nopal, or memory was overwritten");
}

// The caller owns `s`: it was published, and taken by nobody else.
void resume_stack(stack& s) noexcept {
  worker& w = *current();
  assert(w.work.empty());  // it had offered what is in another deque, or nowhere
  w.work.rewind();
  w.count.add(counted::switches);
  stack& mine = *std::exchange(w.here, &s);
  s.begins_to_run();
  mine.leave(s, [](stack& free) noexcept {
    worker& now = *current();
    now.pool().stacks.give_back(free);
    now.stacks.put(&free);
  });
  die_resumed_twice();
}

void run_left_stack(resumable& r, worker&) noexcept {
  auto& s = static_cast<stack&>(r);
  s.stolen = true;
  resume_stack(s);
}

void leave_for_thread(stack& mine) noexcept {
  mine.leave(*current()->home, [](stack& free) noexcept { current()->stacks.put(&free); });
  die_resumed_twice();
}

void wait_at_join(join_word& j, std::int64_t n, stack*& waiting) noexcept {
  for (int k = 0; !j.complete(n); ++k) {
    if (k % tuning::polls_before_suspending_again == 0 && suspend({"a join", nullptr}, true, [&](stack& mine) noexcept {
          waiting = &mine;
          return j.announce(n);
        })) {
      return;
    }
    std_sync::yield();
  }
}

}  // namespace nopal::core

#include "nopal/core/scheduler/worker.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include "nopal/core/stack/outside_children.hpp"
#include "nopal/core/scheduler/scheduler.hpp"
#include "wait/sleeping_thread.hpp"

namespace nopal::core {

// What threads without a worker have: every allocation ends in a message. The thread words begin with it: src/context.
extern "C" {
constinit fork_state nopal_no_worker;
}

void work_for(fork_state* s) noexcept { write_thread_word<thread_word::state>(s != nullptr ? s : &nopal_no_worker); }

namespace {

constexpr std::uint64_t never_stolen = 0;  // children above their parent in its own arena were forked before it was ever stolen

}  // namespace

void die_unjoined(std::exception_ptr e) noexcept {
  if (e == nullptr) {
    die("a task ended with forked children not joined; write co_await nopal::join before every co_return that follows a fork");
  }
  die_in(nullptr,
         "an exception left a task between fork and join, while forked children may still use its variables (%s); "
         "catch it in the task, co_await nopal::join, then rethrow",
         words_of(e));
}

void die_called_directly() noexcept {
  if (state_here()->works()) {
    die("a task's function was called directly on a worker, so that its result would go to another task's slot; inside a task use "
        "co_await nopal::call(f, args...), in an ordinary function nopal::sync_wait(f, args...)");
  }
  die("a task's function was called directly outside a pool; use nopal::pool::run(f, args...), or inside a task "
      "co_await nopal::call(f, args...)");
}

void* fork_state::grow(std::size_t n) {
  if (!works() || parent_word == 0) die_called_directly();
  void* const p = arena.grow(n);
  if (arena.segment()->below == nullptr) return p;  // the first segment stays, even empty
  // Whoever started this child must come by when it has returned: a caller by the alarm, which is the stack pointer of our caller, the
  // child's function or, where that was inlined, the caller's; a forker because its entry is public and stays so (floor).
  worker& w = *static_cast<worker*>(this);
  arena.segment()->alarm = alarm;
  arena.segment()->floor = w.work.bottom();
  alarm = reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
  w.work.publish_all();
  return p;
}

worker::worker(scheduler& pool, unsigned index, std::uint64_t seed, stacklet_depot& depot, stack_pool& all, block_depot& all_blocks)
    : stacks{all, index},
      blocks{all_blocks},
      pool_{pool},
      index_{index},
      no_slot_{place_without_slot()},
      most_entries_{most_nested_forks + static_cast<deque::index>(all.stack_size() / least_native_fork)},
      random_{seed, index} {
  arena.use(depot);
  work.reserve(most_entries_);
  ready.reserve(1);
  ready.set_limit_and_ask(0);
}

// ---- The cold ends of the fork path.

// Entries below belong to a strand put aside, or to a parent whose child was the first in the arena's topmost segment: made private
// again, their pop would say yes, and nobody would tidy. (After a strand has moved, a segment's floor is another deque's index: then no
// native frame depends on it.)
deque::index worker::floor() const noexcept {
  stacklet const* const s = arena.segment();
  return s == nullptr ? floor_ : std::max(floor_, s->floor);
}

bool worker::unwind(after why) noexcept {
  unwinding_ = true;
  after_ = why;
  alarm = 0;
  return true;
}

void worker::settle() noexcept {
  if (threw_) alarm = alarm_before_;
  if (std::uintptr_t const a = arena.tidy(); a != arena::keep) alarm = a;
}

void worker::must_throw_into(frame* p) noexcept {
  throwing_ = p;
  if (alarm != 0) alarm_before_ = alarm;
  alarm = 0;
}

bool worker::forked_returned(frame* p) {
  if (unwinding_) {
    work.unpop();
    return true;
  }
  bool const mine = work.pop_slow(floor());
  settle();
  if (!mine) {
    lost_ = p;
    return unwind(after::arrival);
  }
  if (threw_) {
    child_failed(p);
    if (std::exchange(not_started_, false) && p->steals() == 0) p->rethrow();
  }
  return false;
}

bool worker::called_returned(frame* p) noexcept {
  if (unwinding_) return true;
  settle();
  if (!threw_) return false;
  not_started_ = false;
  child_failed(p);
  return join(p);
}

bool worker::fail(frame* p, std::exception_ptr e) noexcept {
  p->record(p->steals(), std::move(e));
  p->state |= frame::thrown;
  return join(p);
}

bool worker::join(frame* p) noexcept {
  if (auto const steals = static_cast<std::int64_t>(p->steals()); steals > 0) {
    // A stolen task runs at the base of the native stack, on an arena of its own that its children have left empty.
    if (!p->join.announce(steals)) {
      counters::add(count.suspensions);
      return unwind(after::nothing);
    }
    resumable(p);
  }
  if ((p->state & frame::thrown) != 0) must_throw_into(p);
  return false;
}

bool worker::join_or_throw(frame* p) {
  if (join(p)) return true;
  if (throwing_ == p) rethrow();
  return false;
}

void worker::rethrow() {
  frame* const p = std::exchange(throwing_, nullptr);
  alarm = alarm_before_;
  p->rethrow();
}

bool loose_continuations::get(deque const& d) noexcept {
  deque::index wanted = 0;
  for (deque::index i = d.oldest(); i < d.bottom(); ++i) {
    if (continuation{d.at(i)}.what() != continuation_kind::stack) ++wanted;  // which is a job itself
  }
  for (; count_ < wanted; ++count_) {
    void* const p = ::operator new(sizeof(loose_continuation), std::nothrow);
    if (p == nullptr) return false;
    first_ = ::new (p) job{first_, nullptr};
  }
  return true;
}

void loose_continuations::clear() noexcept {
  while (first_ != nullptr) ::operator delete(std::exchange(first_, first_->next));
  count_ = 0;
}

bool worker::move(move_job& m) {
  // The deque can only get shorter until the task is sent: whatever runs while everything unwinds leaves it as it was, or empty.
  if (!m.memory.get(work)) throw std::bad_alloc{};
  work.publish_all();
  moving_ = &m;
  return unwind(after::move);
}

bool worker::look() noexcept {
  if (work.was_asked() && !work.empty()) {
    if (pool_.stealing() && !std::exchange(offered_, true)) pool_.parking().offer();
    work.publish();
    if (turns* const t = pool_.turns(); t != nullptr && t->at_fork(index_)) [[unlikely]] work.ask();
  }
  return stack_pointer() < work.limit();
}

void worker::prepare_to_park() { work.ensure_room(most_entries_); }

void worker::park(thunk* t) noexcept {
  work.publish_all();
  parked_ = t;
  unwind(after::thunk);
}

void* worker::allocate_in_body(std::size_t n) {
  void* p;
  return arena.bump(n, p) ? p : arena.grow(n);
}

void worker::child_threw() noexcept {
  exception_ = std::current_exception();
  threw_ = true;
  if (alarm != 0) alarm_before_ = alarm;
  alarm = 0;
  work.publish_all();
}

void worker::start_threw() noexcept {
  not_started_ = true;
  child_threw();
}

void worker::keep_exception(frame* p, std::uint64_t epoch) noexcept {
  threw_ = false;
  p->record(epoch, std::exchange(exception_, nullptr));
}

void worker::child_failed(frame* p) noexcept {
  keep_exception(p, p->steals());
  p->state |= frame::thrown;
}

worker::aside::aside(worker& w) noexcept
    : worker_{&w},
      arena_{w.arena.detach()},
      mark_{w.arena.mark},
      alarm_{w.alarm},
      limit_{w.work.limit()},
      offered_{std::exchange(w.offered_, false)},
      busy_with_{w.busy_with.load(std::memory_order_relaxed)},
      floor_{w.floor_},
      parent_word_{w.parent_word},
      slot_{w.slot},
      unwinding_{std::exchange(w.unwinding_, false)},
      threw_{std::exchange(w.threw_, false)},
      not_started_{std::exchange(w.not_started_, false)},
      after_{w.after_},
      lost_{w.lost_},
      parked_{w.parked_},
      moving_{w.moving_},
      alarm_before_{w.alarm_before_},
      throwing_{std::exchange(w.throwing_, nullptr)},
      exception_{std::exchange(w.exception_, nullptr)} {
  w.alarm = no_alarm;
}

worker::aside::~aside() {
  worker& w = *current();  // the stack may have moved
  w.arena.attach(arena_);
  w.arena.mark = mark_;
  w.alarm = alarm_;
  w.work.set_limit(limit_);
  w.work.ask();
  w.offered_ = offered_;
  w.busy_with.store(busy_with_, std::memory_order_relaxed);
  // Elsewhere the strand finds nothing of its own in the deque: to move, the stack had to leave it empty.
  w.floor_ = &w == worker_ ? floor_ : w.work.bottom();
  w.parent_word = parent_word_;
  w.slot = slot_;
  w.unwinding_ = unwinding_;
  w.threw_ = threw_;
  w.not_started_ = not_started_;
  w.after_ = after_;
  w.lost_ = lost_;
  w.parked_ = parked_;
  w.moving_ = moving_;
  w.alarm_before_ = alarm_before_;
  w.throwing_ = throwing_;
  w.exception_ = std::move(exception_);
}

// ---- Strands.

inline std::uintptr_t worker::lowest() const noexcept { return std::max(stack_pointer() - nesting, here->fork_limit()); }

bool worker::fits_here() const noexcept {
  std::uintptr_t const sp = stack_pointer();
  return sp > here->fork_limit() + nesting && here->holds(sp);  // of a foreign stack nobody knows how much is left
}

void worker::run(root& r) noexcept {
  busy_with.store(&r, std::memory_order_relaxed);
  begin_strand();
  parent_word = reinterpret_cast<std::uintptr_t>(&r) | rooted;
  r.start(r);
  worker& w = *current();
  w.alarm = no_alarm;
  if (w.unwinding_) [[unlikely]] {
    auto const [f, t] = w.after_unwinding();
    return strand(f, t);
  }
  w.arena.tidy();
  w.not_started_ = false;
  w.root_ended(r);
  current()->end_strand();
}

void worker::run_stolen(continuation c) noexcept {
  if (c.what() == continuation_kind::branch) return run_branch(*c.as_branch());
  if (c.what() == continuation_kind::stack) {
    c.as_stack()->stolen = true;
    go_on_with(*c.as_stack());
  }
  frame* const f = c.as_frame();
  f->state += frame::one_steal;
  arena.mark = f->steals();
  begin_strand();
  strand(f, nullptr);
}

void worker::run_moved(frame* f) noexcept {
  if (f->arena != nullptr) {
    arena.attach(f->arena);
  } else {
    arena.mark = f->steals();
  }
  begin_strand();
  strand(f, nullptr);
}

inline void worker::rewind_if_empty() noexcept {
  if (!work.rewound() && work.empty()) work.rewind();
}

void worker::begin_strand() noexcept {
  rewind_if_empty();
  assert(work.has_room_for(most_entries_));  // where foreign entries lie below: see make_room_for_strand
  floor_ = work.bottom();
  alarm = no_alarm;
  work.set_limit_and_ask(lowest());  // the first fork offers itself
}

void worker::end_strand() noexcept {
  rewind_if_empty();  // for the strand below, if one was put aside: see "Depth"
  if (std::exchange(offered_, false)) pool_.parking().retract();
  busy_with.store(nullptr, std::memory_order_relaxed);
}

void worker::strand(frame* f, thunk* t) noexcept {
  while (f != nullptr || t != nullptr) {
    std::uintptr_t parent_of_it;
    if (f != nullptr) {
      parent_of_it = f->parent_word;
      if (f == current()->throwing_) current()->must_throw_into(f);
      std::exchange(f, nullptr)->coroutine().resume();
    } else {
      parent_of_it = reinterpret_cast<std::uintptr_t>(t->parent) | t->how;
      thunk* const now = std::exchange(t, nullptr);
      now->start(now);
    }
    // Back at the base of this stack, with no native frame of the strand above us: but the stack may have moved to another worker.
    worker& w = *current();
    w.alarm = no_alarm;
    if (!w.unwinding_) {
      w.arena.tidy();
      f = w.ended(parent_of_it);
    } else {
      std::tie(f, t) = w.after_unwinding();
    }
  }
  current()->end_strand();
}

// What the strand goes on with once every native frame of it has unwound: nothing, a task or a thunk.
std::pair<frame*, thunk*> worker::after_unwinding() noexcept {
  unwinding_ = false;
  switch (after_) {
    case after::arrival: return {arrive(lost_), nullptr};
    case after::thunk: return {nullptr, std::exchange(parked_, nullptr)};
    case after::move: send_away(*std::exchange(moving_, nullptr)); break;
    case after::nothing: break;
  }
  return {};
}

void worker::root_ended(root& r) noexcept {
  if (std::exchange(threw_, false)) r.error = std::exchange(exception_, nullptr);
  r.finish(r);
}

frame* worker::ended(std::uintptr_t parent_of_it) noexcept {
  std::uintptr_t const address = parent_of_it & ~parent_bits;
  auto* const p = reinterpret_cast<frame*>(address);  // NOLINT(performance-no-int-to-ptr)
  not_started_ = false;
  switch (parent_of_it & kind_mask) {
    case rooted: root_ended(*reinterpret_cast<root*>(address)); return nullptr;  // NOLINT(performance-no-int-to-ptr)
    case called:
      if (p == nullptr) die_called_directly();
      if (!threw_) return p;
      child_failed(p);
      if (!join(p)) return p;
      unwinding_ = false;
      alarm = no_alarm;
      return nullptr;
    default:
      // Of this strand nothing may be left in the deque, though foreign entries are.
      if (work.bottom() == floor_ || (!work.pop() && !work.pop_slow(floor()))) return arrive(p);
      if (threw_) child_failed(p);
      return p;
  }
}

frame* worker::arrive(frame* p) noexcept {
  rewind_if_empty();  // p was stolen, and with it all below: but for foreign entries above which a strand began
  // What is left in the arena are p and its ancestors: then the child was forked before p was ever stolen in this scope.
  // Otherwise the child lay at the bottom of an arena that began with p's theft.
  bool const holds_parent = !arena.empty();
  not_started_ = false;
  if (threw_) keep_exception(p, holds_parent ? never_stolen : arena.mark);
  if (holds_parent) p->arena = arena.detach();
  return p->join.arrive() ? resumable(p) : nullptr;
}

frame* worker::resumable(frame* p) noexcept {
  arena.attach(p->arena);
  p->complete();
  if ((p->state & frame::thrown) != 0) throwing_ = p;
  return p;
}

void worker::send_away(move_job& m) noexcept {
  m.task->arena = arena.detach();
  // The task's ancestors on our deque have no native frames any more: they go where anyone may take them, as if stolen.
  give_everything_away(m.memory);
  pool_.send(m);
}

void worker::give_everything_away(loose_continuations& memory) noexcept {
  while (!work.empty()) {
    if (deque::entry const e = work.steal(); e != 0) pool_.give_away(*this, continuation{e}, memory);
  }
  memory.clear();  // thieves had some
  work.rewind();
}

void worker::offer_ready() noexcept {
  if (!pool_.stealing()) return ready.set_limit(0);
  if (!std::exchange(ready_is_offered_, true)) pool_.parking().offer();
  ready.publish();
  if (turns* const t = pool_.turns(); t != nullptr && t->at_fork(index_)) [[unlikely]] ready.ask();
}

// ---- Ordinary functions that fork.

bool worker::may_fork_natively() noexcept {
  if (std::uintptr_t const sp = stack_pointer(); here->holds(sp)) {
    if (sp <= here->fork_limit()) return false;
  } else if (!has_room_on_foreign_stack()) {
    counters::add(count.serial_forks);
    return false;
  }
  if (stacks.empty()) {  // a join that waits will want one
    stack* const s = stacks.get();
    if (s == nullptr) {
      counters::add(count.serial_forks);
      return false;
    }
    stacks.put(s);
  }
  return true;
}

// The size of our stacks bounds how many forks nest on one; that of a foreign stack is unknown. Room for the next `nesting` bytes of it.
bool worker::has_room_on_foreign_stack() noexcept {
  if (!work.must_grow()) return true;
  try {
    work.ensure_room(most_entries_);
    return true;
  } catch (std::bad_alloc const&) {
    return false;
  }
}

void worker::look_natively() noexcept {
  bool const low = look();
  if (std::uintptr_t const sp = stack_pointer(); !here->holds(sp)) {
    work.set_limit(sp - nesting);  // the deque has room for so many forks: the next one looks again, see has_room_on_foreign_stack
  } else if (low) {
    work.set_limit(here->fork_limit());
  }
}

// Until `n` have arrived: `waiting` is the stack that is left. Without memory for another one the thread waits, and tries again now and
// then, since what it waits for may have come to need this very thread, by a resume_on.
void worker::wait_at(join_word& j, std::int64_t n, stack*& waiting) noexcept {
  constexpr int looks = 100;
  for (int k = 0; !j.complete(n); ++k) {
    if (k % looks == 0 && suspend({"a join", nullptr}, true, [&](stack& mine) noexcept {
          waiting = &mine;
          return j.announce(n);
        })) {
      return;
    }
    std_sync::yield();
  }
}

bool worker::wait_for(branch& b) noexcept {
  {
    worker& w = *current();
    if (w.work.pop_slow(w.floor())) return false;
    w.work.rewind();  // it was stolen, and with it all below
  }
  wait_at(b.join, 1, b.waiting);
  return true;
}

bool worker::lost(branch& b) {
  if (!wait_for(b)) return false;
  if (b.join.reset()) {
    std::exception_ptr const e = std::move(b.error);
    std::destroy_at(&b.error);
    std::rethrow_exception(e);
  }
  return true;
}

void worker::give_up(branch& b) noexcept {
  if (current()->work.pop() || !wait_for(b)) return;
  if (b.join.reset()) std::destroy_at(&b.error);
}

void worker::run_branch(branch& b) noexcept {
  begin_strand();
  begin_without_tasks();
  try {
    b.run(b);
  } catch (...) {
    b.join.record([&](bool) { std::construct_at(&b.error, std::current_exception()); });
  }
  current()->end_strand();
  if (b.join.arrive()) go_on_with(*b.waiting);
}

// ---- Scopes.

// On the parent's stack, whoever runs it now.
void worker::note_steal(children& c) noexcept {
  worker& w = *current();
  w.here->body = nullptr;  // we are not where it began
  w.begin_strand();
  w.begin_without_tasks();
  if (c.state == 0) c.uncaught = std::uncaught_exceptions();
  c.state += children::one_steal;
}

void worker::parent_stolen(children& c, arrival* a) noexcept {
  arrived(*current()->here, a);
  current()->here->stolen = false;
  note_steal(c);
}

// True: the child has returned. False: the parent was stolen, and this is maybe another worker.
bool worker::fork_on(stack& s, child& c, child::starter start) noexcept {
  worker& before = *current();
  stack& parent = *before.here;
  children& of = *c.of;
  s.to_run = &c;
  s.starter = start;
  before.here = &s;
  if (s.run_from(parent, run_child)) current()->stacks.put(&s);
  if (std::exchange(parent.stolen, false)) {
    note_steal(of);
    return false;
  }
  current()->here = &parent;
  return true;
}

void worker::run_child(context& s) noexcept {
  auto& mine = static_cast<stack&>(s);
  child& c = *mine.to_run;
  stack& parent = *c.of->owner;
  mine.starter(c, true);
  if (mine.returns()) return;
  mine.leave(parent, [](stack& free) noexcept { current()->stacks.put(&free); });
}

void worker::fork_slowly(child& c, child::starter start) {
  worker& w = *current();
  if (w.here != c.of->owner) {
    die("a scope forked on another stack than its own: in one of its children, or in a task after a co_await; make another scope there");
  }
  stack* s = nullptr;
  try {
    w.work.ensure_room(2 * w.most_entries_);
    s = w.stacks.get();
  } catch (std::bad_alloc const&) {
  }
  if (s == nullptr) {
    counters::add(w.count.serial_forks);
    return start(c, false);
  }
  if (w.alarm == no_tasks) {
    fork_on(*s, c, start);
    return;
  }
  aside const strand{w};
  w.begin_strand();
  w.begin_without_tasks();
  if (fork_on(*s, c, start)) current()->end_strand();
}

void worker::child_threw(children& c, std::uint64_t epoch) noexcept { c.first.record(c.join, epoch, std::current_exception()); }

void worker::child_had_thrown(children& c) noexcept {
  // Of the parent: where it was left while it handled some, they lie with its stack.
  if (c.state == 0) c.uncaught = std::uncaught_exceptions() + static_cast<int>(c.owner->handled.uncaught);
  c.state |= children::thrown;
}

void worker::parent_lost(children& c) noexcept {
  worker& w = *current();
  if (w.work.pop_slow(w.floor())) return;
  w.work.rewind();  // it was stolen, and with it all below
  w.end_strand();
  stack& mine = *w.here;
  if (c.join.arrive()) go_on_with(*c.waiting);
  scheduler::stay_on(mine);
}

static std::exception_ptr take_from(children& c) noexcept {
  c.state = 0;
  if (c.join.due()) return c.first.take(c.join);
  c.join.reset();
  return nullptr;
}

std::exception_ptr worker::join_children(children& c) noexcept {
  if (state_here()->here != c.owner) {
    die("a scope was joined on another stack than its own: in one of its children, or in a task after a co_await; make another scope there");
  }
  auto const steals = static_cast<std::int64_t>(c.steals());
  if (steals > 0 && c.owner == nullptr) {
    c.outside->join(c);
  } else if (steals > 0) {
    wait_at(c.join, steals, c.waiting);
  }
  return take_from(c);
}

// ---- Stacks.

bool worker::suspend(departure& d) noexcept {
  worker& w = *current();
  if (!w.work.empty() && !w.loose_.get(w.work)) return false;
  stack* const next = w.stacks.get();
  if (next == nullptr) return false;
  counters::add(w.count.suspensions);
  counters::add(w.count.switches);
  w.give_everything_away(w.loose_);
  if (std::exchange(w.offered_, false)) w.pool_.parking().retract();
  d.left = w.here;
  d.left->body = nullptr;  // whoever goes on with it is not where it began
  d.run = [](arrival& a) noexcept {
    auto& x = static_cast<departure&>(a);
    stack& left = *x.left;
    left.begins_to_wait(x.why);
    if (x.reclaims) current()->pool_.stacks().give_back_below(left, left.sp);
    scheduler::step();
    if (x.publish(x)) go_on_with(left);
  };
  next->begin(scheduler::on_stack);
  if (w.alarm == no_tasks) {
    root* const busy = w.busy_with.load(std::memory_order_relaxed);
    leave_for(d, *next);
    current()->begin_job();
    current()->busy_with.store(busy, std::memory_order_relaxed);
  } else {
    aside const strand{w};
    leave_for(d, *next);
  }
  return true;
}

void worker::leave_for(departure& d, stack& next) noexcept {
  worker& w = *current();
  w.busy_with.store(nullptr, std::memory_order_relaxed);
  w.here = &next;
  switch_to(*d.left, next, &d);
}

void worker::go_on_with(stack& s) noexcept {
  worker& w = *current();
  assert(w.work.empty());  // it had offered what is in another deque, or nowhere
  w.work.rewind();
  counters::add(w.count.switches);
  stack& mine = *std::exchange(w.here, &s);
  s.begins_to_run();
  mine.leave(s, [](stack& free) noexcept {
    worker& now = *current();
    now.pool_.stacks().give_back(free);
    now.stacks.put(&free);
  });
  die("a native stack that was given back was resumed; this is a fault of nopal, or memory was overwritten");
}

}  // namespace nopal::core

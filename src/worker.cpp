#include "nopal/core/worker.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "nopal/core/scheduler.hpp"

namespace nopal::core {

constinit fork_state nobody;

namespace {

std::uintptr_t lowest_stack_address() noexcept {
  static thread_local std::uintptr_t lowest = 0;
  if (lowest != 0) return lowest;
  pthread_attr_t a;
  void* at = nullptr;
  std::size_t size = 0;
  if (::pthread_getattr_np(::pthread_self(), &a) == 0) {
    ::pthread_attr_getstack(&a, &at, &size);
    ::pthread_attr_destroy(&a);
  }
  lowest = reinterpret_cast<std::uintptr_t>(at);
  return lowest;
}

void make_room(worker& w) noexcept {
  try {
    w.work.ensure_room(worker::most_nested_forks);
  } catch (std::bad_alloc const&) {
    die("out of memory for a worker's deque, below whose entries another strand begins");
  }
}

constexpr std::uint64_t never_stolen = 0;  // children above their parent in its own arena were forked before it was ever stolen

}  // namespace

void die_unjoined(std::exception_ptr e) noexcept {
  if (e == nullptr) {
    die("a task ended with forked children not joined; write co_await nopal::join before every co_return that follows a fork");
  }
  char const* what = "an exception that is not a std::exception";
  try {
    std::rethrow_exception(e);
  } catch (std::exception const& x) {
    what = x.what();
  } catch (...) {
  }
  std::fprintf(stderr,
               "nopal: an exception left a task between fork and join, while forked children may still use its variables (%s); "
               "catch it in the task, co_await nopal::join, then rethrow\n",
               what);
  std::fflush(stderr);
  std::abort();
}

void die_called_directly() noexcept {
  die("a task's function was called directly outside a pool; use nopal::pool::run(f, args...), or inside a task "
      "co_await nopal::call(f, args...)");
}

void* fork_state::grow(std::size_t n) {
  if (this == &nobody) die_called_directly();
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

worker::worker(scheduler& pool, unsigned index, std::uint64_t seed, stacklet_depot& depot)
    : pool_{pool}, index_{index}, random_{seed, index} {
  arena.use(depot);
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

bool worker::move(move_job& m) noexcept {
  work.publish_all();
  moving_ = &m;
  return unwind(after::move);
}

bool worker::look() noexcept {
  if (work.was_asked() && !work.empty()) {
    if (pool_.stealing() && !std::exchange(offered_, true)) pool_.parking().offer();
    work.publish();
  }
  return stack_pointer() < work.limit();
}

void worker::prepare_to_park() { work.ensure_room(most_nested_forks); }

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
    : worker_{w},
      arena_{w.arena.detach()},
      mark_{w.arena.mark},
      alarm_{w.alarm},
      limit_{w.work.limit()},
      offered_{std::exchange(w.offered_, false)},
      busy_with_{w.busy_with.load(std::memory_order_relaxed)},
      floor_{w.floor_},
      parent_word_{w.parent_word},
      slot_{w.slot},
      threw_{std::exchange(w.threw_, false)},
      not_started_{std::exchange(w.not_started_, false)},
      alarm_before_{w.alarm_before_},
      throwing_{std::exchange(w.throwing_, nullptr)},
      exception_{std::exchange(w.exception_, nullptr)} {
  ++w.nested_;
  w.alarm = no_alarm;
  w.enter();
}

worker::aside::~aside() {
  worker_.arena.attach(arena_);
  worker_.arena.mark = mark_;
  worker_.alarm = alarm_;
  worker_.work.set_limit(limit_);
  worker_.work.ask();
  worker_.offered_ = offered_;
  worker_.busy_with.store(busy_with_, std::memory_order_relaxed);
  worker_.floor_ = floor_;
  worker_.parent_word = parent_word_;
  worker_.slot = slot_;
  worker_.threw_ = threw_;
  worker_.not_started_ = not_started_;
  worker_.alarm_before_ = alarm_before_;
  worker_.throwing_ = throwing_;
  worker_.exception_ = std::move(exception_);
  --worker_.nested_;
}

// ---- Strands.

void worker::enter() noexcept {
  std::uintptr_t const here = stack_pointer();
  work.set_limit(std::max(here - nesting, lowest_stack_address() + reserve));
}

bool worker::fits_here() noexcept { return stack_pointer() > lowest_stack_address() + nesting + reserve; }

void worker::run(root& r) noexcept {
  busy_with.store(&r, std::memory_order_relaxed);
  strand(nullptr, &r);
}

void worker::run_stolen(frame* f) noexcept {
  f->state += frame::one_steal;
  arena.mark = f->steals();
  strand(f, nullptr);
}

void worker::run_moved(frame* f) noexcept {
  if (f->arena != nullptr) {
    arena.attach(f->arena);
  } else {
    arena.mark = f->steals();
  }
  strand(f, nullptr);
}

void worker::strand(frame* f, root* r) noexcept {
  if (work.empty()) {
    work.rewind();
  } else {
    make_room(*this);  // foreign entries lie below
  }
  floor_ = work.bottom();
  work.ask();  // the first fork offers itself
  thunk* t = nullptr;
  while (f != nullptr || r != nullptr || t != nullptr) {
    std::uintptr_t parent_of_it;
    if (f != nullptr) {
      parent_of_it = f->parent_word;
      if (f == throwing_) must_throw_into(f);
      std::exchange(f, nullptr)->coroutine().resume();
    } else if (t != nullptr) {
      parent_of_it = reinterpret_cast<std::uintptr_t>(t->parent) | t->how;
      thunk* const now = std::exchange(t, nullptr);
      now->start(now);
    } else {
      parent_of_it = reinterpret_cast<std::uintptr_t>(r) | rooted;
      parent_word = parent_of_it;
      root& now = *std::exchange(r, nullptr);
      now.start(now);
    }
    // Back at the base: no native frame is above us, and the worker is the same, since native stacks do not move under a strand.
    alarm = no_alarm;
    if (!std::exchange(unwinding_, false)) {
      arena.tidy();
      f = ended(parent_of_it);
      continue;
    }
    switch (after_) {
      case after::arrival: f = arrive(lost_); break;
      case after::thunk: t = std::exchange(parked_, nullptr); break;
      case after::move: send_away(*std::exchange(moving_, nullptr)); break;
      case after::nothing: break;
    }
  }
  if (work.empty()) work.rewind();  // for the strand below, if one was put aside: see "Depth"
  if (std::exchange(offered_, false)) pool_.parking().retract();
  busy_with.store(nullptr, std::memory_order_relaxed);
}

frame* worker::ended(std::uintptr_t parent_of_it) noexcept {
  std::uintptr_t const address = parent_of_it & ~std::uintptr_t{15};
  auto* const p = reinterpret_cast<frame*>(address);  // NOLINT(performance-no-int-to-ptr)
  not_started_ = false;
  switch (parent_of_it & kind_mask) {
    case rooted: {
      root& r = *reinterpret_cast<root*>(address);  // NOLINT(performance-no-int-to-ptr)
      if (std::exchange(threw_, false)) r.error = std::exchange(exception_, nullptr);
      r.finish(r);
      return nullptr;
    }
    case called:
      if (!threw_) return p;
      child_failed(p);
      if (!join(p)) return p;
      unwinding_ = false;
      alarm = no_alarm;
      return nullptr;
    default:
      // Of this strand nothing may be left in the deque, though foreign entries are.
      if (work.bottom() == floor_ || (!work.pop() && !work.pop_slow(floor()))) return arrive(p);
      if (threw_) {
        child_failed(p);
      }
      return p;
  }
}

frame* worker::arrive(frame* p) noexcept {
  if (work.empty()) work.rewind();  // p was stolen, and with it all below: but for foreign entries above which a strand began
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
  while (!work.empty()) {
    if (deque::entry const e = work.steal([](deque::entry) { return true; }); e != 0) pool_.give_away(*this, continuation{e});
  }
  pool_.send(m);
}

}  // namespace nopal::core

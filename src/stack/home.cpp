#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/join_wait.hpp"
#include "nopal/core/stack/top_wait.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/permits.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- Waking what waits on top of its stack.

// A thread from outside the pool may report the last event that the pool has to run for, and the pool's destructor would not wait for that
// thread: so it counts as pending work.
void top_wait::resume() noexcept {
  stack& s = stack_;
  pool_state& p = pool_;
  unsigned const i = worker_;
  worker const* const w = current_or_null();
  bool const from_outside = w == nullptr || &w->pool() != &p;
  if (from_outside) p.pending.started();
  if (happens()) {
    bring_home(p, s);
  } else {
    p.parking.call(i);
  }
  if (from_outside) p.pending.finished();
}

// ---- The wait at a join.

void resume(join_waiter waiting) noexcept {
  if (waiting.is_on_top()) return waiting.on_top().resume();
  resume_at_home(waiting.left());
}

// The children run elsewhere, and may arrive at any time. Either all have arrived, or the last one resumes this stack.
void wait_at_join(join_word& j, std::int64_t n, join_waiter& waiting) noexcept {
  waits_for const why{"a join", nullptr, wait_kind::join};
  if (waits_on_top(*current(), &j)) {
    if (!j.complete(n))
      wait_on_top(why, &j, [&](top_wait& mine) noexcept {
        waiting = join_waiter{mine};
        return !j.announce(n);
      });
    return;
  }
  for (int k = 0; !j.complete(n); ++k) {
    if (k % tuning::polls_before_suspending_again == 0 && suspend(why, true, [&](stack& mine) noexcept {
          waiting = join_waiter{mine};
          return j.announce(n);
        })) {
      return;
    }
    std_sync::give_way(k);
  }
}

// What a thread runs on top of its stack while that waits.

namespace {

bool has_room_on_top(worker& w) noexcept {
  if (!w.fits_here()) return false;
  try {
    w.make_room_for_strand();
    return true;
  } catch (std::bad_alloc const&) {
    return false;
  }
}

// Runs what was taken from a victim, was offered in `in`, and descends from `join`. It ends here, or waits here: this is the same worker
// afterwards.
void run_on_top(worker& w, continuation c, strand_context const& in, void const* join) noexcept {
  stack& here = *w.here;
  saved_strand const waits{w};
  if (w.work.empty()) w.descends_from(join, w.far.get() != nullptr ? w.far.get() : join);
  ++here.on_top;
  if (c.is_frame()) {
    w.pool().call.run_stolen_task(w, *c.as_frame(), in);
  } else {
    c.as_inheriting()->inherit(in);
    c.as_resumable()->run(*c.as_resumable(), w);
  }
  --here.on_top;
}

// Takes what the victim offers, if all that it offers descends from the join. A pin keeps that true.
deque::entry steal_from_below(worker& w, worker& victim, void const* join, bool stacks, strand_context& in) noexcept {
  descent* const d = victim.near.look() == join ? &victim.near : victim.far.look() == join ? &victim.far : nullptr;
  if (d == nullptr || victim.work.looks_empty() || !d->pin(join)) return 0;
  w.count.add(counted::steal_attempts);
  deque::entry const e = victim.work.steal([=](deque::entry x) { return stacks || !continuation{x}.is_stack(); }, &in);
  d->unpin();
  if (e != 0) tell::took(w, victim);
  return e;
}

// True if the thread, which waits for `why`, has something that only it may run, and now. A stack that has come home before its turn does
// not count.
bool has_own(worker& w, waits_for const& why) noexcept {
  w.take_own();
  while (w.search.own != nullptr && only_awaits_turn(*w.search.own)) {
    resumable& r = *w.search.own;
    w.search.own = r.next;
    r.run(r, w);
  }
  return w.search.own != nullptr || !w.due_own.empty() || next_in_order(w, &why) != nullptr;
}

// True: `t` has happened. False: the thread must leave the stack.
bool wait_here(worker& w, top_wait& t, waits_for const& why) noexcept {
  std::optional<sleeping_thread> listed;
  std::int64_t idle_since = 0;
  std::int64_t pause = tuning::shortest_doze;
  for (;;) {
    if (t.has_happened()) return true;
    if (has_own(w, why)) return false;
    strand_context in;
    if (deque::entry const e = t.join != nullptr && has_room_on_top(w) ? steal_below(w, t.join, false, in) : 0; e != 0) {
      listed.reset();
      run_on_top(w, continuation{e}, in, t.join);
      idle_since = 0;
      pause = tuning::shortest_doze;
      continue;
    }
    if (t.join != nullptr) {
      std::int64_t const now = std_sync::now();
      if (idle_since == 0) idle_since = now;
      if (now - idle_since <= tuning::search_before_sleep) {
        for (std::uint64_t k = 0; k < tuning::longest_backoff; ++k) cpu_relax();
        if (now - idle_since > tuning::search_before_yield) std_sync::yield();
        continue;
      }
    }
    if (w.work.empty()) w.retract_offers();
    if (!listed) listed.emplace(why, reinterpret_cast<std::uintptr_t>(w.here));
    if (!doze(w, t, t.join != nullptr ? pause : longest_sleep(w))) return false;
    if (pause < tuning::longest_doze) pause *= 2;
  }
}

// Leaves the stack until it comes home; `publish` as in suspend. False: there is no memory for another stack.
template <class Publish>
bool leave(worker& w, top_wait& t, waits_for const& why, Publish publish) noexcept {
  t.older = std::exchange(w.search.left, &t);
  bool const left = suspend(why, false, publish);
  top_wait** before = &current()->search.left;  // of the same thread
  while (*before != &t) before = &(*before)->older;
  *before = t.older;
  current()->makes_progress();
  return left;
}

}  // namespace

// True if this thread has run only its own work for long. That may wait for something, and look again and again.
bool is_stalled(worker& w) noexcept {
  std::int64_t const now = std_sync::now();
  if (w.search.below_since == 0) w.search.below_since = now;
  if (now - w.search.below_since <= tuning::stalled) return false;
  w.stalled.store(true, std::memory_order_relaxed);  // relaxed: a hint
  return true;
}

// Then no thread runs what they wait for, though now and then one is awake. A hint: a thread that finds it wrong looks again.
bool others_are_stalled(worker const& w) noexcept {
  pool_state const& p = w.pool();
  return std::all_of(p.workers.begin(), p.workers.end(), [&](worker const* other) {
    unsigned const i = other->index();
    bool const sleeps = p.parking.is_dozing(i) || p.parking.is_asleep(i);
    return other == &w || sleeps || other->stalled.load(std::memory_order_relaxed);  // relaxed: a hint
  });
}

deque::entry steal_below(worker& w, void const* join, bool stacks, strand_context& in) noexcept {
  unsigned const n = w.pool().size();
  auto const first = static_cast<unsigned>(w.search.random() % n);
  for (unsigned k = 0; k < n; ++k) {
    unsigned const i = (first + k) % n;
    if (i == w.index()) continue;
    if (deque::entry const e = steal_from_below(w, *w.pool().workers[i], join, stacks, in); e != 0) return e;
  }
  return 0;
}

bool doze(worker& w, top_wait& t, std::int64_t nanoseconds) noexcept {
  pool_state& p = w.pool();
  auto const must_wake = [&] {
    return t.has_happened() || !w.own.empty() || !w.due_own.empty() || p.stopping.load(std::memory_order_seq_cst);
  };
  bool const had_permit = w.search.may_run;
  w.give_permit();
  t.runs_anything = !p.parking.doze(w.index(), must_wake, nanoseconds);
  if (had_permit) {  // who has one may wait for a lock that the frames below hold: so this thread does not wait for it
    p.limit->take_anyway();
    w.search.may_run = true;
  }
  return !t.runs_anything;
}

void yield_on_top(waits_for const& why) noexcept {
  worker& w = *current();
  int const error_number = errno;
  top_wait t{*w.here, w.pool(), w.index(), nullptr};
  w.offer_all();
  bool const others_are_awake = doze(w, t, has_own(w, why) ? 0 : tuning::shortest_doze);
  if (!others_are_awake || has_own(w, why)) {
    static_cast<void>(leave(w, t, why, [](stack& mine) noexcept {
      bring_home(current()->pool(), mine);
      return false;
    }));
  }
  errno = error_number;
}

void wait_on_top(waits_for const& why, void const* join, bool (*publish)(void* with, top_wait& t) noexcept, void* with) noexcept {
  worker& w = *current();
  int const error_number = errno;
  top_wait t{*w.here, w.pool(), w.index(), join};
  if (publish(with, t)) {
    stack& here = *w.here;
    tell::waits_on_top(w, here, why);
    w.offer_all();  // this thread will not answer requests
    while (!wait_here(w, t, why) && !leave(w, t, why, [&](stack&) noexcept { return !t.leave(); })) std_sync::yield();
    tell::waited_on_top(*current(), here, why);
  }
  errno = error_number;
}

// ---- The newest first.

void left_in_order(worker& w, stack& s) noexcept {
  s.in_order = true;
  s.left_before = w.search.left_in_order;
  w.search.left_in_order = &s;
}

void resumed_in_order(worker& w, stack& s) noexcept {
  stack** at = &w.search.left_in_order;
  while (*at != &s) at = &(*at)->left_before;
  *at = s.left_before;
  s.in_order = false;
  s.awaits_turn = false;
}

void await_turn(stack& s) noexcept {
  s.awaits_turn = true;
  s.looks_for_turn = 0;
  s.looked_for_turn = std_sync::now();
}

// True if another worker runs something. This thread itself counts as at work unless it counts as a thief.
static bool others_work(worker const& w) noexcept { return w.pool().parking.at_work() > (w.search.searching ? 0U : 1U); }

static bool waits_at_join(waits_for const& why) noexcept { return why.kind == wait_kind::join; }

// Polls after which a stack continues out of its turn. `all_join`: all newer stacks wait at joins.
static std::uint32_t patience(worker const& w, bool all_join) noexcept {
  std::uint32_t const looks = all_join ? tuning::looks_while_newer_join : tuning::looks_for_turn;
  return others_work(w) ? looks * tuning::times_while_others_work : looks;
}

stack* next_in_order(worker& w, waits_for const* here) noexcept {
  stack* const newest = w.search.left_in_order;
  if (newest == nullptr) return nullptr;
  if (newest->awaits_turn && !keeps_order(w)) return newest;
  std::int64_t const now = std_sync::now();
  bool all_join = here == nullptr || !keeps_order(w) || waits_at_join(*here);  // what is newer than s
  for (stack* s = newest; s != nullptr; s = s->left_before) {
    if (!s->awaits_turn) {
      // relaxed: this thread has left the stack, which waits until this thread resumes it
      waits_for const* const why = s->waits.load(std::memory_order_relaxed);
      all_join = all_join && why != nullptr && waits_at_join(*why);
      continue;
    }
    if (now - s->looked_for_turn < tuning::longest_doze) continue;
    s->looked_for_turn = now;
    if (++s->looks_for_turn >= patience(w, all_join)) return s;
  }
  return nullptr;
}

}  // namespace nopal::core

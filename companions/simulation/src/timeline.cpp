#include "simulation/src/timeline.hpp"

#include <algorithm>
#include <utility>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/virtual_time.hpp"

namespace nopal::inline NOPAL_ABI::core {

// In nanoseconds.
static constexpr std::int64_t early = 2'000;          // how far a thief may be ahead of a strand that polls and still run first
static constexpr std::int64_t a_little = 200;         // how far a thief may be ahead of the worker that must answer it
static constexpr std::int64_t after_ticker = 50'000;  // the ticker has sent its signal before, if it has a CPU
static constexpr double longest_rest = 1'000'000;     // until the next look whether a thread outside can act

timeline::timeline(std::int64_t slice, bool measures) noexcept : slice_{slice}, ticks_{ticks_per_nanosecond()}, measures_{measures} {}

timeline::~timeline() = default;

// ---- Clocks.

void timeline::advance(worker_state& w, std::int64_t nanoseconds, kind k) noexcept {
  w.clock += nanoseconds;
  if (w.clock > counts_from_) w.spent[k] += std::min(nanoseconds, w.clock - counts_from_);
}

void timeline::start_watch(unsigned i) noexcept {
  worker_state& w = at(i);
  if (w.searches || !measures_) return;
  w.measures = true;
  w.watch.start(w.cpu_time);
}

std::int64_t timeline::stop_watch(unsigned i) noexcept {
  worker_state& w = at(i);
  if (!w.measures) return 0;
  // relaxed: set by this thread, or by another under the lock while this thread waited; if seen late, at most 20 µs too much are counted
  bool const waited = w.away.load(std::memory_order_relaxed);
  std::int64_t const worked = waited ? w.watch.read_used(w.cpu_time) : w.watch.read(w.cpu_time);
  w.measures = false;
  if (!waited) w.disturbed.fetch_add(w.watch.passed() - worked, std::memory_order_relaxed);  // relaxed: a sum, which a report may read
  return worked;
}

std::int64_t timeline::now(unsigned i) const noexcept {
  worker_state const& w = *workers_[i];
  std::int64_t const worked = w.measures ? w.watch.read(w.cpu_time) : 0;
  virtual_time::not_interrupted const me{w.time.get()};
  std::lock_guard const guard{mutex_};  // a job from outside may set the clock
  return w.clock + worked;
}

void timeline::comes_back(unsigned i) noexcept {
  worker_state& w = at(i);
  w.away.store(false, std::memory_order_relaxed);  // relaxed: under the lock
  unsigned const runs = holder();
  std::int64_t const then = runs != no_worker ? at(runs).clock : latest();
  if (then > w.clock) advance(w, then - w.clock, asleep);
}

// When the worker acts next, if no thread wakes it before.
std::int64_t timeline::key(worker_state const& w) const noexcept {
  switch (w.now) {
    case state::ready:
    case state::runs: return w.clock;
    case state::sleeps: return w.wakes_at == virtual_time::for_ever ? no_time : w.wakes_at;
    case state::absent: break;
  }
  return no_time;
}

std::int64_t timeline::latest() const noexcept {
  std::int64_t t = beginning;
  for (auto const& w : workers_) t = std::max(t, w->clock);
  return t;
}

// ---- Turns.

unsigned timeline::goes_before(unsigned i, rule r) const noexcept {
  std::int64_t const mine = workers_[i]->clock;
  unsigned best = no_worker;
  std::int64_t first = no_time;
  for (unsigned j = 0; j < workers_.size(); ++j) {
    worker_state const& w = *workers_[j];
    std::int64_t const at = key(w);
    if (j == i || at >= first) continue;
    bool const thief = w.looks();
    std::int64_t may_wait = 0;  // how far it may be behind
    switch (r) {
      case rule::exact: break;
      case rule::polled: may_wait = thief ? -early : slice_; break;
      case rule::late: may_wait = thief ? 0 : slice_; break;
      case rule::searches: may_wait = std::max(early, w.ahead); break;
      case rule::waits: may_wait = std::max(a_little, w.ahead); break;
    }
    if (at + may_wait >= mine) continue;
    best = j;
    first = at;
  }
  return best;
}

unsigned timeline::least(unsigned but) const noexcept {
  unsigned best = no_worker;
  std::int64_t first = no_time;
  for (unsigned j = 0; j < workers_.size(); ++j) {
    worker_state const& w = *workers_[j];
    if (j == but || (w.now != state::ready && w.now != state::sleeps)) continue;
    if (std::int64_t const at = key(w); at < first) {
      best = j;
      first = at;
    }
  }
  return best;
}

void timeline::stops_sleeping(worker_state& w, std::int64_t woken, std::int64_t runs) noexcept {
  woken = std::max(woken, w.clock);
  advance(w, woken - w.clock, asleep);
  if (runs > woken) advance(w, runs - woken, waking);
  w.sleeps_on = nullptr;
  w.now = state::ready;
}

// All sleep until `then`, and only the timer wakes them. True if the timer may run now: if no thread outside can act before, or as much
// time has passed outside. Else the ticker looks again.
bool timeline::may_rest_until(std::int64_t then) noexcept {
  bool away = false;
  for (auto const& w : workers_) {
    if (w->now == state::ready || w->now == state::runs) return true;
    away = away || w->away.load(std::memory_order_relaxed);  // relaxed: under the lock
  }
  if (!away && nobody_acts_outside()) return true;
  std::uint64_t const now = clock_ticks();
  if (rests_since_ == 0) rests_since_ = now;
  auto const left = static_cast<double>(then - latest()) - static_cast<double>(now - rests_since_) / ticks_;
  if (left <= 0) return true;
  ticker_->set(no_worker, now + static_cast<std::uint64_t>(std::min<double>(left, longest_rest) * ticks_));
  return false;
}

void timeline::time_passes() noexcept {
  std::lock_guard const guard{mutex_};
  if (!ended_ && holder() == no_worker) give_to_least();
}

void timeline::give(unsigned to) noexcept {
  if (to == no_worker) {
    set_holder(to);
    return ticker_->set(no_worker, ticker::never);
  }
  worker_state& w = at(to);
  if (to == timer() && w.now == state::sleeps && !may_rest_until(w.wakes_at)) return set_holder(no_worker);
  set_holder(to);
  rests_since_ = 0;
  ++switches_;
  if (w.now == state::sleeps) stops_sleeping(w, w.wakes_at, w.wakes_at);
  w.now = state::runs;
  w.turn.store(1, std::memory_order_seq_cst);  // pairs with the load in wait_for_turn
  wake_up(w.turn, 1);
}

void timeline::wait_for_turn(lock& guard, unsigned i) noexcept {
  worker_state& w = at(i);
  w.alarm.clear();
  guard.unlock();
  while (w.turn.load(std::memory_order_seq_cst) == 0) sleep_on(w.turn, 0, virtual_time::for_ever);
  guard.lock();
  w.turn.store(0, std::memory_order_seq_cst);  // no thread gives it again before this worker has passed it on
}

void timeline::pass_on(lock& guard, unsigned i, rule r) noexcept {
  for (unsigned to = goes_before(i, r); to != no_worker && !ended_; to = goes_before(i, r)) {
    at(i).now = state::ready;
    give(to);
    wait_for_turn(guard, i);
    if (r == rule::polled) r = rule::late;  // else two might pass the turn to each other for ever
  }
}

void timeline::set_alarm(unsigned i, std::uint64_t now) noexcept {
  worker_state& w = at(i);
  w.ticks = now;
  w.alarm.clear();
  if (w.searches || !measures_) return ticker_->set(i, ticker::never);
  std::int64_t due = no_time;
  for (unsigned j = 0; j < workers_.size(); ++j) {
    worker_state const& other = *workers_[j];
    std::int64_t const at = key(other);
    if (j == i || at == no_time) continue;
    bool const thief = other.looks();
    due = std::min(due, thief ? at : at + slice_);
  }
  if (due == no_time) return ticker_->set(i, ticker::never);
  due = std::max<std::int64_t>(0, due - w.clock);
  ticker_->set(i, now + static_cast<std::uint64_t>(static_cast<double>(due) * ticks_));
  w.alarm.set(due - static_cast<std::int64_t>(static_cast<double>(clock_ticks() - now) / ticks_) + after_ticker);
}

void timeline::come_in() noexcept {
  if (unsigned const i = holder(); i != no_worker) return set_alarm(i, at(i).ticks);
  give_to_least();
}

}  // namespace nopal::core

#include "simulation/src/simulation.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/pool.hpp"
#include "nopal/simulation.hpp"
#include "simulation/src/interruption.hpp"

namespace nopal::inline NOPAL_ABI::core {

// In nanoseconds.
static constexpr std::int64_t first_ahead = 2'000;
static constexpr std::int64_t in_real_time = 1'000'000;

class simulation::own_time final : public virtual_time {
 public:
  own_time(simulation& whole, unsigned i) noexcept : of{whole}, index{i} {}
  std::int64_t now() noexcept override { return of.now(index); }
  bool is_simulated() const noexcept override { return true; }
  bool is_given() const noexcept override { return !of.costs_.measures; }
  void relax() noexcept override {
    if (!of.takes(index, of.costs_.relax, rule::waits)) cpu_relax();
  }
  void yield() noexcept override {
    if (!of.takes(index, of.costs_.yield, rule::searches)) ::sched_yield();
  }
  void sleep(std::int64_t nanoseconds) noexcept override {
    std::atomic<std::uint32_t> nobody_wakes{0};
    of.sleep(index, &nobody_wakes, 0, nanoseconds);
  }
  void wait(std::atomic<std::uint32_t>& a, std::uint32_t expected, std::int64_t nanoseconds) noexcept override {
    of.sleep(index, &a, expected, nanoseconds);
  }
  void interrupted(bool waits, bool by_alarm) noexcept override { of.interrupted(index, waits, by_alarm); }
  void come_in_order() noexcept override { of.must_come_in_order(index); }

 private:
  simulation& of;
  unsigned const index;
};

simulation::simulation(simulation_costs costs, topology machine, std::vector<place> where, std::vector<int> cpus, hands h)
    : observer{&kind},
      timeline{static_cast<std::int64_t>(costs.slice), costs.measures},
      costs_{std::move(costs)},
      cpus_{std::move(cpus)},
      hands_{std::move(h)},
      machine_{std::move(machine)},
      where_{std::move(where)} {
  auto const n = static_cast<unsigned>(where_.size());
  std::vector<bool> occurs;
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = 0; j < i; ++j) {
      auto const d = static_cast<std::size_t>(distance(i, j));
      if (d >= occurs.size()) occurs.resize(d + 1);
      occurs[d] = true;
    }
  }
  for (std::size_t d = 0; d < occurs.size(); ++d) {
    ranks_.push_back(static_cast<unsigned>(distances_.size()));
    if (occurs[d]) distances_.push_back(static_cast<int>(d));
  }
  for (unsigned i = 0; i <= n; ++i) {  // and the timer
    auto w = std::make_unique<worker_state>();
    w->watch = stopwatch{ticks_};
    w->stolen.resize(std::max<std::size_t>(1, distances_.size()));
    w->time = std::make_unique<own_time>(*this, i);
    workers_.push_back(std::move(w));
  }
  take_interruptions();
  if (costs_.measures) alarm_cost_ = cost_of_alarm(ticks_);
  start_ticker();
  enter_list();
}

void simulation::start_ticker() {
  std::vector<int> others = cpus_;
  bool const has_its_own = others.size() > 1;
  if (has_its_own) others.pop_back();
  ticker::hands its;
  its.ask = hands_.ask;
  its.rested = [this] { time_passes(); };
  its.interrupt = [this](unsigned i) {
    std::lock_guard const guard{mutex_};
    if (at(i).now != state::absent) interrupt(at(i).thread);
  };
  its.unblock = [this](unsigned i) { return unblock(i); };
  ticker_ = std::make_unique<ticker>(std::move(its), others, has_its_own, ticks_);
}

simulation::~simulation() { leave_list(); }

// ---- Workers.

void simulation::thread_begins(unsigned i) noexcept { enter_as(i); }
void simulation::timer_begins() noexcept {
  at(timer()).searches = true;
  enter_as(timer());
}
void simulation::timer_ends() noexcept { thread_ends(timer()); }

void simulation::enter_as(unsigned i) noexcept {
  worker_state& w = at(i);
  if (cpus_.size() > 1) keep_to_cpus({cpus_.back()});
  virtual_time::set_here(w.time.get());
  virtual_time::not_interrupted const me{w.time.get()};
  let_interrupt_this_thread();
  lock guard{mutex_};
  ::pthread_getcpuclockid(::pthread_self(), &w.cpu_time);
  if (++present_ == workers_.size()) all_present_.notify_all();
  if (ended_) return;
  w.thread = ::pthread_self();
  w.thread_number = static_cast<int>(::syscall(SYS_gettid));
  w.alarm.begin(w.thread_number);
  w.clock = std::max(w.clock, latest());
  w.now = state::ready;
  come_in();
  wait_for_turn(guard, i);
  if (!ended_) set_alarm(i, clock_ticks());
}

void simulation::thread_ends(unsigned i) noexcept {
  virtual_time::set_here(nullptr);
  std::int64_t const worked = stop_watch(i);
  std::lock_guard const guard{mutex_};
  worker_state& w = at(i);
  w.alarm.end();
  used_ += stopwatch::used(w.cpu_time);
  w.cpu_time = {};
  advance(w, worked, working);
  w.now = state::absent;
  --present_;
  if (!ended_ && holder() == i) give_to_least();
}

void simulation::must_come_in_order(unsigned i) noexcept {
  entry e{*this, i};
  if (!e.goes_on()) return;
  at(i).ahead = 0;
  pass_on(e.guard, i, rule::exact);
}

void simulation::polled(unsigned i) noexcept {
  {
    entry e{*this, i};
    if (!e.goes_on()) return;
    at(i).ahead = 0;
    pass_on(e.guard, i, rule::polled);
  }
  if (!costs_.measures) hands_.ask(i);
}

void simulation::tries(unsigned i, unsigned victim) noexcept {
  entry e{*this, i};
  if (!e.goes_on()) return;
  advance(at(i), static_cast<std::int64_t>(costs_.look_at(rank(i, victim))), searching);
  pass_on(e.guard, i, rule::searches);
}

void simulation::took(worker& its, worker const& from) noexcept {
  unsigned const i = its.index();
  unsigned const victim = from.index();
  entry e{*this, i};
  if (!e.goes_on()) return;
  worker_state& w = at(i);
  ++w.stolen[rank(i, victim)];
  w.found = true;
  // The victim should have been stopped when the thief was due, and ran on for longer than a slice: the ticker had no CPU. What is stolen
  // may be as late.
  if (std::int64_t const late = at(victim).clock - w.clock; costs_.measures && late > slice_) {
    w.disturbed.fetch_add(late, std::memory_order_relaxed);  // relaxed: a sum
    advance(w, late, searching);
  }
  advance(w, static_cast<std::int64_t>(costs_.steal_from(rank(i, victim))), searching);
  pass_on(e.guard, i, rule::exact);
}

void simulation::searches(unsigned i, bool does) noexcept {
  entry const e{*this, i};
  at(i).searches = does;
  at(i).found = false;
}

void simulation::works(unsigned i, std::int64_t nanoseconds) noexcept {
  entry e{*this, i};
  if (!e.goes_on()) return;
  advance(at(i), nanoseconds, working);
  pass_on(e.guard, i, rule::exact);
}

bool simulation::takes(unsigned i, double nanoseconds, rule r) noexcept {
  entry e{*this, i};
  if (!e.goes_on()) return false;
  worker_state& w = at(i);
  advance(w, static_cast<std::int64_t>(nanoseconds), w.searches ? searching : working);
  pass_on(e.guard, i, r);
  return true;
}

bool simulation::pauses(unsigned i, std::uint64_t pauses) noexcept {
  takes(i, static_cast<double>(pauses) * costs_.relax, rule::searches);
  return true;
}

// In the handler of the signal: the worker has run for long without a fork. Until it forks, its deque does not change, so thieves may get
// far ahead of it; farther each time, so that its work is not cut into small pieces.
void simulation::interrupted(unsigned i, bool waits, bool by_alarm) noexcept {
  if (holder() != i) return;  // another has the turn already: the signal is late
  if (waits) return leave_waiting(i);
  entry e{*this, i, by_alarm ? alarm_cost_ : 0};
  if (!e.goes_on()) return;
  worker_state& w = at(i);
  if (!is_due(i)) return;  // it was without a CPU for a while
  w.ahead = std::min(std::max(2 * w.ahead, first_ahead), std::max(first_ahead, static_cast<std::int64_t>(costs_.slice)));
  pass_on(e.guard, i, rule::polled);
}

// Inside the handler of worker i, which has the turn and waits in the kernel for another worker, most likely by a lock of the program. The
// other workers run until this one returns by itself: timeline_entry.
void simulation::leave_waiting(unsigned i) noexcept {
  virtual_time::not_interrupted const me{at(i).time.get()};
  lock const guard{mutex_};
  unsigned const to = least(i);
  if (holder() != i || ended_ || to == no_worker) return;
  worker_state& w = at(i);
  if (!w.rests) ++lost_;
  w.alarm.clear();
  w.now = state::absent;
  w.away.store(true, std::memory_order_relaxed);  // relaxed: under the lock, or by this thread
  give(to);
}

// The worker that has the turn was asked to give it up, and has not. It may wait for another one by a lock of the program, or of malloc: then
// its thread uses no CPU. If it holds a lock of the library as well, its alarm changes nothing, and takes CPU time each time it comes. So the
// alarm pauses until the next look shows whether the thread runs.
bool simulation::unblock(unsigned i) noexcept {
  worker_state& w = at(i);
  int thread = 0;
  {
    std::lock_guard const guard{mutex_};
    if (holder() != i || ended_) return true;
    std::int64_t const used = stopwatch::used(w.cpu_time);
    if (std::exchange(w.used_before, used) != used) {
      w.alarm.pause_or_resume();
      return false;
    }
    thread = w.thread_number;
  }
  if (!is_asleep(thread)) return false;  // without the lock, which the thread might wait for
  std::lock_guard const guard{mutex_};
  if (holder() != i || ended_) return true;
  if (stopwatch::used(w.cpu_time) != w.used_before) return false;
  unsigned const to = least(i);
  if (to == no_worker) return false;
  if (!w.rests) ++lost_;
  w.alarm.clear();
  w.now = state::absent;                          // it returns by itself
  w.away.store(true, std::memory_order_relaxed);  // relaxed: under the lock
  give(to);
  return true;
}

void simulation::sleep(unsigned i, std::atomic<std::uint32_t> const* on, std::uint32_t expected, std::int64_t nanoseconds) noexcept {
  bool alone = false;
  {
    entry e{*this, i};
    if (e.goes_on()) {
      if (on->load(std::memory_order_seq_cst) != expected)
        return;  // pairs with the store before a wake: under the lock we see the store, or the wake sees us
      worker_state& w = at(i);
      w.sleeps_on = on;
      w.wakes_at = nanoseconds < 0 ? virtual_time::for_ever : w.clock + nanoseconds;
      w.now = state::sleeps;
      unsigned const to = least();
      alone = to == i && i != timer();
      give(to);
      wait_for_turn(e.guard, i);
      w.sleeps_on = nullptr;
      if (!alone) return;
    }
  }
  rests(i, true);
  // No worker can run: so time passes as for the threads that may bring work. Or the simulation has ended.
  std::int64_t const a_while = nanoseconds < 0 ? in_real_time : std::min(nanoseconds, in_real_time);
  sleep_on(const_cast<std::atomic<std::uint32_t>&>(*on), expected, a_while);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  rests(i, false);
}

void simulation::rests(unsigned i, bool does) noexcept {
  virtual_time::not_interrupted const me{at(i).time.get()};
  std::lock_guard const guard{mutex_};
  at(i).rests = does;
}

// ---- Any thread.

bool simulation::wake(std::atomic<std::uint32_t> const& a, bool all) noexcept {
  virtual_time* const here = virtual_time::here();
  virtual_time::not_interrupted const me{here};
  unsigned waker = no_worker;
  for (unsigned j = 0; j < workers_.size(); ++j) {
    if (workers_[j]->time.get() == here) waker = j;
  }
  std::int64_t const worked = waker != no_worker ? stop_watch(waker) : 0;
  lock guard{mutex_};
  if (waker != no_worker) advance(at(waker), worked, working);
  bool const any = !ended_ && wake_sleepers(a, all, waker);
  if (any) come_in();
  if (waker == no_worker) return any;
  if (holder() == waker) set_alarm(waker, clock_ticks());
  guard.unlock();
  start_watch(waker);
  return any;
}

bool simulation::wake_sleepers(std::atomic<std::uint32_t> const& a, bool all, unsigned waker) noexcept {
  bool any = false;
  for (auto& w : workers_) {
    if (w->now != state::sleeps || w->sleeps_on != &a) continue;
    any = true;
    ++w->wakeups;
    if (waker == no_worker) {
      stops_sleeping(*w, latest(), 0);
    } else {
      advance(at(waker), static_cast<std::int64_t>(costs_.wake), at(waker).searches ? searching : working);
      std::int64_t const t = at(waker).clock;
      stops_sleeping(*w, t, std::max(t, w->clock) + static_cast<std::int64_t>(costs_.wake_up));
    }
    if (!all) break;
  }
  return any;
}

void simulation::job_comes() noexcept {
  virtual_time::not_interrupted const me{virtual_time::here()};  // of another simulated machine, maybe
  lock guard{mutex_};
  all_present_.wait(guard, [this] { return present_ == workers_.size() || ended_; });
  if (jobs_++ != 0) return;
  found_ = false;
  began_ = last_end_ = latest();
  for (auto& w : workers_) {  // nothing has happened until now: awake workers' clocks are set to the same time
    if (w->now == state::ready || w->now == state::runs) w->clock = began_;
  }
}

void simulation::job_begins(unsigned i) noexcept {
  entry e{*this, i};
  if (!found_ && e.goes_on()) {  // in order: else a worker that is behind would take a part of the job before it has begun
    at(i).ahead = 0;
    pass_on(e.guard, i, rule::exact);
  }
  if (std::exchange(found_, true)) return;
  counts_from_ = began_ = last_end_ = at(i).clock;
  for (auto const& w : workers_) {  // a worker that is behind may find the next job
    if (w->now == state::ready) counts_from_ = std::min(counts_from_, w->clock);
  }
}

void simulation::job_ends(unsigned i) noexcept {
  entry const e{*this, i};
  last_end_ = std::max(last_end_, at(i).clock);
  if (jobs_ == 0) return;
  --jobs_;
  if (jobs_ != 0) return;
  elapsed_ += last_end_ - began_;
  counts_from_ = no_time;
}

void simulation::pool_ends() noexcept {
  stop_ticker();
  virtual_time::not_interrupted const me{virtual_time::here()};  // of another simulated machine, maybe
  std::lock_guard const guard{mutex_};
  for (auto& w : workers_) {
    w->turn.store(1, std::memory_order_seq_cst);  // as in give
    wake_up(w->turn, 1);
  }
}

// The ticker takes the lock, too: so its thread is joined without the lock.
void simulation::stop_ticker() noexcept {
  std::unique_ptr<ticker> ends;
  {
    virtual_time::not_interrupted const me{virtual_time::here()};  // as above
    std::lock_guard const guard{mutex_};
    ended_ = true;
    set_holder(no_worker);
    ends = std::move(ticker_);
    used_ += ends->used();
  }
}

void simulation::pool_begins_again() {
  start_ticker();
  virtual_time::not_interrupted const me{virtual_time::here()};  // of another simulated machine, maybe
  std::lock_guard const guard{mutex_};
  ended_ = false;
  for (auto& w : workers_) {
    w->turn.store(0, std::memory_order_seq_cst);  // no thread waits
    w->now = state::absent;
    w->sleeps_on = nullptr;
  }
}

simulation* simulation::of(pool_state const& pool) noexcept {
  return pool.observed == nullptr ? nullptr : static_cast<simulation*>(pool.observed->find(&kind));
}

std::uint64_t simulation::lost_turns() const noexcept {
  virtual_time::not_interrupted const me{virtual_time::here()};  // a worker of this machine, or of another, maybe
  std::lock_guard const guard{mutex_};
  return lost_;
}

// ---- Threads of the process outside this machine.

namespace {

/// The number of threads of the process, by the system. Does not call malloc, since a thread that waits for its turn may hold malloc's
/// lock.
unsigned threads_of_process() noexcept {
  constexpr unsigned unknown = std::numeric_limits<unsigned>::max();
  std::array<char, 512> text{};
  int const f = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (f < 0) return unknown;
  ssize_t const n = ::read(f, text.data(), text.size() - 1);
  ::close(f);
  if (n <= 0) return unknown;
  char const* at = std::strrchr(text.data(), ')');  // of "number (name) state …", the twentieth is the number of threads
  for (int k = 2; at != nullptr && k < 20; ++k) at = std::strchr(at + 1, ' ');
  unsigned threads = unknown;
  if (at != nullptr) std::from_chars(at + 1, text.data() + n, threads);
  return threads;
}

}  // namespace

// With the lock. A thread that sleeps outside until it is woken, usually a caller of run, does nothing before.
bool simulation::nobody_acts_outside() const noexcept {
  unsigned known = static_cast<unsigned>(workers_.size()) + 1 + hands_.helpers();  // and the ticker
  sleeping_thread::for_each([&](sleeping_thread const& t) { known += t.waits_outside() ? 1 : 0; });
  return threads_of_process() <= known;
}

}  // namespace nopal::core

namespace nopal::inline NOPAL_ABI {

std::optional<simulation_report> simulated(pool const& p) {
  core::simulation const* const its = core::simulation::of(p.scheduler_->state());
  if (its == nullptr) return std::nullopt;
  return its->report();
}

void simulate_work(std::chrono::nanoseconds time) noexcept {
  core::worker* const w = core::current_or_null();
  core::simulation* const its = w == nullptr ? nullptr : core::simulation::of(w->pool());
  if (its != nullptr && !its->costs().measures) its->works(w->index(), time.count());
}

}  // namespace nopal

#include "nopal/core/scheduler/scheduler.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/scheduler/signals.hpp"
#include "nopal/core/scheduler/thread_name.hpp"
#include "wait/sleeping_thread.hpp"

namespace nopal::core {

namespace {

constexpr std::size_t least_stack = std::size_t{64} << 10;
constexpr std::size_t most_stack = std::size_t{1} << 40;  // each is cut out of twice as much
// Unused stacks that stay mapped, for each worker, with two pages each at most: mapping one costs several system calls, and a thousand
// fibers that wait at once are not many.
constexpr std::size_t kept_stacks = 1024;
// Of these each worker has so many for itself while it sleeps.
constexpr std::size_t kept_asleep = 4;
// How long an idle thread looks before it sleeps. A caller that runs one small job after another finds it awake.
constexpr std::int64_t patience = 100'000;  // ns
// At most so many pauses between its looks, twice over: 1 to 5 µs.
constexpr std::uint64_t shortest_backoff = 4;
constexpr std::uint64_t longest_backoff = 32;
// After that the one thief that must stay awake naps between its looks.
constexpr std::int64_t long_patience = 2'000'000;

// At most one pool of the process pins by default: two would put their workers on the same CPUs.
std::atomic<bool> some_pool_is_pinned{false};

// The worker in whose place the calling thread has worked last. Only threads that work for no pool come by it, on stacks that never leave
// them: a compiler may keep its address.
constinit thread_local struct {
  scheduler const* pool;
  unsigned index;
  unsigned uses;
} last{};

// Nothing here is marked as made for them, so the loader leaves them off, unless somebody insists.
bool shadow_stacks_are_on() noexcept {
#if defined(__x86_64__)
  std::uint64_t pointer = 0;
  asm volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a"(pointer));  // rdsspq %rax: no operation where there are none
  return pointer != 0;
#else
  return false;
#endif
}

[[noreturn]] void reject(std::string const& what) { throw std::invalid_argument{"nopal::pool: " + what}; }

}  // namespace

/// What the constructor learns of the machine.
struct scheduler::site {
  cpu_limits cpus;
  topology machine;
  std::vector<place> places;
  std::vector<unsigned> nodes;
  bool pin;

  explicit site(pool_options const& o) : cpus{read_cpu_limits()}, machine{topology::load(cpus.cpus)} {
    if (shadow_stacks_are_on()) {
      throw std::system_error{ENOTSUP, std::generic_category(),
                              "nopal::pool: this process runs with shadow stacks, and the first switch between native stacks would end it; "
                              "link the program without -z shstk, or turn them off with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off"};
    }
    unsigned const workers = o.workers != 0 ? o.workers : cpus.usable();
    if (workers > most_workers) {
      reject("workers = " + std::to_string(workers) + " is more than the limit of " + std::to_string(most_workers) +
             "; workers = 0 takes one per usable CPU, here " + std::to_string(cpus.usable()));
    }
    if (o.stack_size < least_stack) {
      reject("stack_size = " + std::to_string(o.stack_size) + " bytes is less than the " + std::to_string(least_stack) +
             " that a native stack needs; leave it at its default of 1 MiB");
    }
    if (o.stack_size > most_stack) {
      reject("stack_size = " + std::to_string(o.stack_size) + " bytes is more than the limit of " + std::to_string(most_stack) +
             "; leave it at its default of 1 MiB");
    }
    if (std::any_of(o.name.begin(), o.name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      std::string shown;
      for (char const c : o.name) shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
      reject("name = \"" + shown + "\" has a control character (shown as ?), and reports have a line for each thing; use printable ones");
    }
    if (o.pin.value_or(false) && workers > cpus.cpus.size()) {
      reject("pin = true wants a CPU for each of " + std::to_string(workers) + " workers, but this process may use only " +
             std::to_string(cpus.cpus.size()) + "; ask for at most " + std::to_string(cpus.cpus.size()) +
             " workers, or leave pin unset");
    }
    if (o.pin.value_or(false) && !machine.is_this_machine()) {
      reject("pin = true has no meaning on a topology that is not this machine's; unset HWLOC_SYNTHETIC, or leave pin unset");
    }
    places = machine.spread(workers);
    for (place const& p : places) nodes.push_back(p.node);
    pin = o.pin.value_or(cpus.whole_machine && machine.is_this_machine() && workers <= cpus.cpus.size());
  }
};

scheduler::scheduler(pool_options const& options) : scheduler{options, site{options}} {}

static std::unique_ptr<turns> make_turns(pool_options const& o, unsigned workers) {
  forced_schedule const s = o.schedule != schedule::free ? forced_schedule{o.schedule, o.seed} : forced_schedule::from_environment();
  return s.how == schedule::free ? nullptr : std::make_unique<turns>(s, workers);
}

scheduler::scheduler(pool_options const& o, site&& s)
    : steal_{o.steal},
      idle_{o.idle},
      name_{o.name},
      turns_{make_turns(o, static_cast<unsigned>(s.places.size()))},
      stacks_{o.stack_size, o.reclaim, kept_stacks * s.places.size(), static_cast<unsigned>(s.places.size())},
      timer_{name_},
      places_{s.places}, parking_{std::span<unsigned const>{s.nodes}} {
  auto const n = static_cast<unsigned>(places_.size());
  bool const fence = heavy_fence_available();
  for (unsigned i = 0; i < n; ++i) {
    workers_.push_back(std::make_unique<worker>(*this, i, o.seed, depot_, stacks_, blocks_));
    workers_[i]->victims_ = victim_table{s.machine, places_, i};
    if (!fence) {
      workers_[i]->work.hide_nothing();
      workers_[i]->ready.hide_nothing();
    }
    stack* const first = stacks_.get(i);
    if (first == nullptr) {
      throw std::system_error{ENOMEM, std::generic_category(),
                              "nopal::pool: no address space for the first native stack of worker " + std::to_string(i) + ", of " +
                                  std::to_string(stacks_.stack_size()) + " bytes; lower stack_size or the number of workers"};
    }
    workers_[i]->stacks.put(first);
  }
  pinned_ = s.pin && (o.pin.has_value() || !some_pool_is_pinned.exchange(true, std::memory_order_relaxed));
  holds_pin_ = pinned_ && !o.pin.has_value();
  try {
    for (unsigned i = 0; i < n; ++i) {
      start_thread(i);
      if (!pinned_) continue;
      cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(places_[i].cpu) + 1);
      if (set == nullptr) throw std::bad_alloc{};
      std::size_t const size = CPU_ALLOC_SIZE(static_cast<std::size_t>(places_[i].cpu) + 1);
      CPU_ZERO_S(size, set);
      CPU_SET_S(static_cast<std::size_t>(places_[i].cpu), size, set);
      int const error = ::pthread_setaffinity_np(threads_[i].native_handle(), size, set);
      CPU_FREE(set);
      if (error != 0 && o.pin.has_value()) {
        throw std::system_error{error, std::generic_category(),
                                "nopal::pool: pin = true could not put worker " + std::to_string(i) + " on CPU " +
                                    std::to_string(places_[i].cpu) + "; leave pin unset"};
      }
    }
  } catch (...) {
    stop();
    throw;
  }
}

void scheduler::start_thread(unsigned i) {
  only_own_signals const until_it_has_begun;
  try {
    threads_.emplace_back([this, i] { loop(i); });
  } catch (std::system_error const& e) {
    throw std::system_error{e.code(), "nopal::pool: only " + std::to_string(i) + " of " + std::to_string(workers()) +
                                          " worker threads could be created; ask for fewer workers, or raise the limit on threads"};
  }
}

// Out of line: GCC 12 takes the address of a pool that is a local variable for one that dangles.
void scheduler::belongs_to(pool& p) noexcept { owner_ = &p; }

void scheduler::stop() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);  // before the look at the seats in notify: pairs with must_stay in park
  for (unsigned i = 0; i < workers(); ++i) parking_.notify(i);
  if (turns_ != nullptr) turns_->end();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
  timer_.stop();  // its thread looks at the seats
  if (holds_pin_) some_pool_is_pinned.store(false, std::memory_order_relaxed);
}

scheduler::~scheduler() {
  if (worker* const w = current_or_null(); w != nullptr && &w->pool() == this) {
    die("a pool was destroyed by a task that runs on it; let a thread outside the pool own and destroy it");
  }
  wait_for_all();
  stop();
  last = {};  // with the pool goes the thread's alternate stack: another pool, maybe at the same address, must see to one
}

// ---- Jobs from outside.

namespace {
void run_root(job* j, worker& w) noexcept { w.run(*static_cast<root*>(j)); }
void run_move(job* j, worker& w) noexcept { w.run_moved(static_cast<move_job*>(j)->task); }
void run_loose(job* j, worker& w) noexcept {
  continuation const c = static_cast<loose_continuation*>(j)->what;
  delete static_cast<loose_continuation*>(j);
  w.run_stolen(c);
}
void run_left(job* j, worker& w) noexcept { w.run_stolen(continuation{static_cast<stack*>(j)}); }
void run_waiting(job* j, worker&) noexcept { worker::go_on_with(*static_cast<waiting_stack*>(j)->what); }
}  // namespace

void scheduler::put(job& j, unsigned i) noexcept {
  if (steal_) parking_.add();
  workers_[i]->open_.push(&j);
  if (steal_) {
    parking_.announce(i);
  } else {
    parking_.notify(i);  // nobody else may run it, so it is no demand
  }
  if (turns_ != nullptr) [[unlikely]] turns_->arrived();
}

void scheduler::step() noexcept {
  worker const& w = *current();
  if (core::turns* const t = w.pool().turns(); t != nullptr) [[unlikely]] t->step(w.index());
}

void scheduler::started() noexcept {
  std::lock_guard const guard{pending_mutex_};
  ++pending_;
  ++submitted_;
}

void scheduler::submit(root& r) noexcept {
  started();
  r.run = run_root;
  worker const* const w = current_or_null();
  if (w != nullptr && &w->pool() == this) return put(r, w->index());
  if (turns_ != nullptr) [[unlikely]] turns_->settle();
  put(r, choose());
}

// A sleeping worker if there is one, beginning at another place each time.
unsigned scheduler::choose() noexcept {
  unsigned const first = turn_.fetch_add(1, std::memory_order_relaxed) % workers();
  for (unsigned k = 0; k < workers(); ++k) {
    if (unsigned const i = (first + k) % workers(); parking_.is_parked(i)) return i;
  }
  return first;
}

void scheduler::finished() noexcept {
  std::lock_guard const guard{pending_mutex_};
  if (--pending_ == 0) none_pending_.notify_all();
}

void scheduler::send(move_job& m) noexcept {
  // The task may be gone as soon as it is pushed, and with it whoever keeps the other pool.
  worker& to = *m.to;
  scheduler& there = to.pool();
  there.started();
  m.run = run_move;
  to.private_.push(&m);
  there.parking().notify(to.index());
  if (there.turns_ != nullptr) [[unlikely]] there.turns_->arrived();
  there.finished();
}

void scheduler::give_away(worker& from, continuation c, loose_continuations& memory) noexcept {
  if (c.what() == continuation_kind::stack) {
    stack& s = *c.as_stack();
    s.run = run_left;
    return put(s, from.index());
  }
  loose_continuation& j = memory.take(c);
  j.run = run_loose;
  put(j, from.index());
}

// ---- Callers.

void scheduler::run(root& r, event& done) {
  if (worker* const w = current_or_null(); w != nullptr) return run_on(*w, r, done);
  done.only_this_thread_waits();
  if (run_as_guest(r, done)) return;
  if (turns_ != nullptr) [[unlikely]] turns_->settle();
  run_elsewhere(r, done);
}

bool scheduler::run_if_one_sleeps(root& r, event& done) noexcept {
  done.only_this_thread_waits();
  return run_as_guest(r, done);
}

// The caller runs on a worker.
void scheduler::run_on(worker& w, root& r, event& done) {
  if (&w.pool() == this && w.fits_here()) {
    w.make_room_for_strand();
    {
      worker::aside const outer{w};  // the caller's strand waits below us
      w.run(r);
    }
    return wait(done);
  }
  if (turns_ != nullptr && &w.pool() != this) [[unlikely]] turns_->settle();
  run_elsewhere(r, done);
}

void scheduler::run_elsewhere(root& r, event& done) noexcept {
  r.run = run_root;
  put(r, turn_.fetch_add(1, std::memory_order_relaxed) % workers());
  wait(done);
}

void scheduler::wait(event& done) noexcept {
  if (done.is_set()) return;
  worker* const w = current_or_null();
  if (w == nullptr) return sleep_until_set(done, {"a job", nullptr});
  wait_on(*w, done, {"a job", nullptr});
}

// Without memory the worker waits too, and nobody may be there to bring what it waits for: so it tries again and again.
void scheduler::wait_on(worker& w, event& done, waits_for why) noexcept {
  waiting_stack me;
  me.pool = &w.pool();
  me.worker = w.index();
  me.what = w.here;
  while (!worker::suspend(why, true, [&](stack&) noexcept { return !done.await(me); })) {
    if (done.wait_for(1'000'000)) return;
  }
}

void scheduler::resume(waiting_stack& s) noexcept {
  s.run = run_waiting;
  worker* const w = current_or_null();
  if (w == nullptr || &w->pool() != this) {
    // Once it goes on it may be the last that this pool has to do, and who destroys the pool does not know of us.
    started();
    put(s, steal_ ? choose() : s.worker);
    return finished();
  }
  if (steal_) {
    try {
      w->make_room_for_ready();
      return w->make_ready(s);
    } catch (std::bad_alloc const&) {
    }
  }
  put(s, steal_ ? choose() : s.worker);
}

void scheduler::resume_later(waiting_stack& s) noexcept {
  s.run = run_waiting;
  put(s, s.worker);
}

void scheduler::spawn(job& j) noexcept {
  spawned_outside_.fetch_add(1, std::memory_order_seq_cst);  // before it can finish: see wait_for_all
  if (turns_ != nullptr) [[unlikely]] turns_->settle();
  put(j, choose());
}

void scheduler::spawn_again(worker& w, job& j) noexcept {
  worker::counters::add(w.count.fibers_spawned);  // before it can finish
  try {
    w.make_room_for_ready();
    w.make_ready(j);
  } catch (std::bad_alloc const&) {
    put(j, w.index());
  }
}

std::uint64_t scheduler::fibers_finished() const noexcept {
  std::uint64_t n = 0;
  for (auto const& w : workers_) n += w->count.fibers_finished.load(std::memory_order_seq_cst);
  return n;
}
std::uint64_t scheduler::fibers_spawned() const noexcept {
  std::uint64_t n = spawned_outside_.load(std::memory_order_seq_cst);
  for (auto const& w : workers_) n += w->count.fibers_spawned.load(std::memory_order_seq_cst);
  return n;
}

// Both sums only grow, and a fiber or root that runs is counted as spawned or submitted, not as finished. So if nothing was pending and
// the sums were equal, and neither has grown until they were looked at again, nothing ran in between.
void scheduler::wait_for_all() noexcept {
  for (;;) {
    std::uint64_t const spawned = fibers_spawned();
    std::uint64_t submitted;
    {
      std::unique_lock guard{pending_mutex_};
      none_pending_.wait(guard, [&] { return pending_ == 0; });
      submitted = submitted_;
    }
    if (fibers_finished() == spawned && fibers_spawned() == spawned) {
      std::lock_guard const guard{pending_mutex_};
      if (pending_ == 0 && submitted_ == submitted) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

// A sleeping worker for the calling thread, or workers() if there is none. The one it had last time, most often.
unsigned scheduler::borrow() noexcept {
  if (last.pool == this && last.index < workers() && (++last.uses & 63) != 0 && parking_.borrow(last.index)) [[likely]] return last.index;
  last.pool = this;
  return last.index = borrow_another();
}

// The worker whose CPU we are on, so that the others find theirs free, or any.
unsigned scheduler::borrow_another() noexcept {
  take_alternate_stack();
  unsigned const n = workers();
  if (pinned_) {
    int const here = ::sched_getcpu();
    for (unsigned k = 0; k < n; ++k) {
      if (places_[k].cpu == here && parking_.borrow(k)) return k;
    }
  }
  unsigned const first = turn_.fetch_add(1, std::memory_order_relaxed) % n;
  for (unsigned k = 0; k < n; ++k) {
    if (unsigned const i = (first + k) % n; parking_.borrow(i)) return i;
  }
  return n;
}

bool scheduler::run_as_guest(root& r, event& done) noexcept {
  unsigned const i = borrow();
  if (i == workers()) return false;
  worker& w = *workers_[i];
  stack* const s = w.stacks.get();
  if (s != nullptr) {
    context home;
    work_for(&w);
    w.guest_ = true;
    w.guest_for_ = &r;
    w.guest_done_ = &done;
    w.idle_since_ = 0;
    w.home_ = &home;
    w.here = s;
    if (s->run_from(home, on_stack_of_guest)) w.stacks.put(s);
    // Thieves may have had all that was spawned; what is left the thread comes for, see must_stay.
    if (w.ready_is_offered_ && w.ready.empty()) [[unlikely]] retract_ready(w);
    w.guest_ = false;
    work_for(nullptr);
  }
  parking_.give_back(i, [&] { return must_stay(i); });
  if (s == nullptr) return false;
  sleep_until_set(done, {"a job", nullptr});
  return true;
}

// Looks for work of the guest's root. False: it is done, or there is none, or the worker's thread is needed.
bool scheduler::work_as_guest(worker& w) noexcept {
  event& done = *w.guest_done_;
  if (done.is_set() || must_stay(w.index())) return false;
  if (find_and_run(w, w.guest_for_)) return true;
  std::int64_t const now = std_sync::now();
  if (w.idle_since_ == 0) w.idle_since_ = now;
  if (now - w.idle_since_ >= patience) return false;
  for (int k = 0; k < 8 && !done.is_set(); ++k) cpu_relax();
  if (now - w.idle_since_ > patience / 4) std_sync::yield();
  return true;
}

// ---- Workers.

bool scheduler::must_stay(unsigned i) const noexcept {
  worker const& w = *workers_[i];
  return stopping_.load(std::memory_order_seq_cst) || !w.private_.empty() || !w.open_.empty() || !w.ready.empty();
}

void scheduler::loop(unsigned i) noexcept {
  take_own_signals();
  take_alternate_stack();
  std::array<char, 12> number;
  name_this_thread(name_, {number.data(), std::to_chars(number.data(), number.data() + number.size(), i).ptr});
  worker& w = *workers_[i];
  work_for(&w);
  context home;
  w.home_ = w.thread_home_ = &home;
  w.here = w.stacks.get();  // the constructor has put one there
  w.here->begin(on_stack);
  if (turns_ != nullptr) turns_->enter(i);
  switch_to(home, *w.here);
  work_for(nullptr);
}

void scheduler::on_stack(context& c) noexcept {
  auto& mine = static_cast<stack&>(c);
  current()->pool().work(mine);
  leave_for_home(mine);
}

void scheduler::on_stack_of_guest(context& c) noexcept {
  auto& mine = static_cast<stack&>(c);
  current()->run(*current()->guest_for_);
  if (worker const& w = *current(); !w.guest_ || !w.guest_done_->is_set()) w.pool().work(mine);
  if (mine.returns()) return;
  leave_for_home(mine);
}

void scheduler::stay_on(stack& mine) noexcept {
  current()->pool().work(mine);
  leave_for_home(mine);
}

void scheduler::leave_for_home(stack& mine) noexcept {
  mine.leave(*current()->home_, [](stack& free) noexcept { current()->stacks.put(&free); });
  die("a native stack that was given back was resumed; this is a fault of nopal, or memory was overwritten");
}

// At the base of a stack. Whatever runs on top of this frame may suspend the stack, and another worker of this pool go on with it.
void scheduler::work(stack& mine) noexcept {
  for (;;) {
    worker& w = *current();
    if (w.guest_ ? !work_as_guest(w) : !run_ready(w) && !work_once(w, mine)) return;
  }
}

bool scheduler::work_once(worker& w, stack& mine) noexcept {
  if (stopping_.load(std::memory_order_relaxed)) return false;  // relaxed: park looks again, in order
  if (turns_ != nullptr) [[unlikely]] return work_in_turn(w);
  unsigned const i = w.index();
  if (!std::exchange(w.looking_, true)) parking_.start_looking(i);
  if (find_and_run(w, nullptr)) return true;
  std::int64_t const now = std_sync::now();
  if (w.idle_since_ == 0) w.idle_since_ = now;
  std::int64_t const idle_for = now - w.idle_since_;
  if (idle_ == idle::lazy && idle_for > patience) {
    w.looking_ = false;  // park counts for us; a guest in our place is no thief
    w.stacks.trim(kept_asleep);
#ifndef NDEBUG
    if (nothing_can_run()) timer_.call_after(std::chrono::seconds{1}, warn_if_stuck, this);
#endif
    bool const slept = parking_.park(
        i, [&] { return must_stay(i); }, [&] { worker::counters::add(w.count.sleeps); });
    w.looking_ = true;
    if (slept) {
      worker::counters::add(w.count.wakeups);
      w.home_ = w.thread_home_;  // a guest may have been here
      w.here = &mine;
      w.idle_since_ = 0;
    } else if (idle_for > long_patience) {
      // The one thief that must stay awake, while others are busy with strands that offer nothing for long.
      timespec const nap{0, 20'000};
      ::nanosleep(&nap, nullptr);
    }
  }
  // Longer each time, and each time another while, so that thieves do not come all at once.
  bool const wanted = parking_.demand();
  auto const pause = w.backoff_ + w.random_() % w.backoff_;
  for (std::uint64_t k = 0; k < pause && parking_.demand() == wanted; ++k) cpu_relax();
  if (w.backoff_ < longest_backoff) w.backoff_ *= 2;
  if (idle_for > patience / 4 && (wanted || idle_ == idle::busy)) std_sync::yield();
  return true;
}

bool scheduler::work_in_turn(worker& w) noexcept {
  unsigned const victim = turns_->victim(w.index());
  if (victim != turns::nobody && steal_ && steal_from(w, *workers_[victim], nullptr)) return true;
  if (!find_and_run(w, nullptr)) turns_->idle(w.index());
  return true;
}

bool scheduler::find_and_run(worker& w, root const* only) noexcept {
  if (!w.guest_ && run_private(w)) return true;  // which a guest leaves to the thread in whose place it works
  if (only == nullptr) {
    if (take_jobs(w, w.open_)) return true;
    if (!parking_.demand()) return false;
  }
  if (!steal_ || w.victims_.empty()) return false;
  // As many looks as there are others before the caller considers to sleep; each is drawn anew, by Eq. (6).
  for (unsigned k = 1; k < workers(); ++k) {
    if (steal_from(w, *workers_[w.victims_.pick(w.random_())], only)) return true;
  }
  return false;
}

bool scheduler::run_private(worker& w) noexcept {
  job* const first = w.private_.take_all();
  if (first == nullptr) return false;
  for (job* rest = first->next; rest != nullptr;) w.private_.push(std::exchange(rest, rest->next));
  stop_looking(w);
  first->run(first, w);
  return true;
}

// The newest first, for its cache. Now and then the oldest, or none, for the sake of what came from outside or yielded.
bool scheduler::run_ready(worker& w) noexcept {
  if ((++w.ready_taken_ & 63) == 0) [[unlikely]] {
    if ((w.ready_taken_ & 64) != 0 && (!w.open_.empty() || !w.private_.empty())) return false;
    w.ready.publish_all();
    if (deque::entry const e = w.ready.steal(); e != 0) {
      start_ready(w, continuation{e});
      return true;
    }
  }
  if (!w.ready.empty()) {
    continuation const c{w.ready.newest()};
    if (w.ready.pop() || w.ready.pop_slow()) {
      start_ready(w, c);
      return true;
    }
  }
  retract_ready(w);
  return false;
}

// It is empty: no demand, until the next that is made ready offers it again.
void scheduler::retract_ready(worker& w) noexcept {
  if (!std::exchange(w.ready_is_offered_, false)) return;
  w.ready.ask();
  parking_.retract();
}

void scheduler::start_ready(worker& w, continuation c) noexcept {
  stop_looking(w);
  c.as_job()->run(c.as_job(), w);
}

void scheduler::stop_looking(worker& w) noexcept {
  if (std::exchange(w.looking_, false)) parking_.stop_looking(w.index());
  if (w.idle_since_ == 0) return;
  w.idle_since_ = 0;
  w.backoff_ = shortest_backoff;
}

// The oldest job is started here, the others are offered in our ring: oldest first for us, newest first for thieves.
bool scheduler::take_jobs(worker& w, inbox& from) noexcept {
  job* const first = from.take_all();
  if (first == nullptr) return false;
  job* newest = nullptr;
  for (job* j = first->next; j != nullptr;) {
    job* const next = std::exchange(j->next, newest);
    newest = std::exchange(j, next);
  }
  try {
    while (newest != nullptr) {
      w.make_room_for_ready();
      job& j = *std::exchange(newest, newest->next);  // its link is read before it is offered
      w.make_ready(j);
      if (steal_) parking_.retract();  // the ring counts as a whole
    }
  } catch (std::bad_alloc const&) {
    while (newest != nullptr) w.open_.push(std::exchange(newest, newest->next));
  }
  if (&from != &w.open_) worker::counters::add(w.count.steals);
  stop_looking(w);
  if (steal_) parking_.retract();
  first->run(first, w);
  return true;
}

bool scheduler::steal_from(worker& w, worker& victim, root const* only) noexcept {
  worker::counters::add(w.count.steal_attempts);
  root* const its = victim.busy_with.load(std::memory_order_relaxed);  // relaxed: a hint
  if (only != nullptr && its != only) return false;
  if (!victim.work.looks_empty()) {
    deque::entry const e = victim.work.steal();
    if (e != 0) {
      worker::counters::add(w.count.steals);
      w.busy_with.store(its, std::memory_order_relaxed);
      stop_looking(w);
      step();
      w.run_stolen(continuation{e});
      return true;
    }
  }
  if (only != nullptr) return false;
  if (!victim.ready.looks_empty()) {
    if (deque::entry const e = victim.ready.steal(); e != 0) {
      worker::counters::add(w.count.steals);
      step();
      start_ready(w, continuation{e});
      return true;
    }
  }
  return take_jobs(w, victim.open_);
}

stats scheduler::read_stats() const {
  stats all;
  std::vector<std::uint64_t> const pages = stacks_.resident_pages_by_maker();
  for (auto const& w : workers_) {
    worker_stats one;
    one.steals = w->count.steals.load(std::memory_order_relaxed);
    one.steal_attempts = w->count.steal_attempts.load(std::memory_order_relaxed);
    one.serial_forks = w->count.serial_forks.load(std::memory_order_relaxed);
    one.suspensions = w->count.suspensions.load(std::memory_order_relaxed);
    one.fibers_spawned = w->count.fibers_spawned.load(std::memory_order_relaxed);
    one.fibers_finished = w->count.fibers_finished.load(std::memory_order_relaxed);
    one.switches = w->count.switches.load(std::memory_order_relaxed);
    one.sleeps = w->count.sleeps.load(std::memory_order_relaxed);
    one.wakeups = w->count.wakeups.load(std::memory_order_relaxed);
    stack_counts const its = stacks_.counts(w->index());
    one.stacks_live = its.live;
    one.stacks_peak = its.peak;
    one.unmaps = its.unmaps;
    one.pages_returned = its.pages_returned;
    one.stack_pages = pages[w->index()];
    all.per_worker.push_back(one);
    all += one;
  }
  // The workers' peaks were not at the same time, and their numbers of stacks were read one after the other.
  stack_counts const c = stacks_.counts();
  all.stacks_live = c.live;
  all.stacks_peak = c.peak;
  if (turns_ != nullptr) all.lost_turns = turns_->lost();
  return all;
}

}  // namespace nopal::core

#include "nopal/core/scheduler/scheduler.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/process.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/report/report.hpp"
#include "nopal/core/scheduler/due.hpp"
#include "nopal/core/scheduler/memory.hpp"
#include "nopal/core/scheduler/permits.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/search.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/threads.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack_overflow.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/task/slow_path.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "observe/observers.hpp"
#include "report/held_exceptions.hpp"
#include "scheduler/option_checks.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- The first pool of a process, and its forks.

constinit std::mutex default_pool_changes;

namespace {

// A fork copies a lock as it is: if another thread held it, no thread could unlock it in the child. So the thread that forks takes the
// locks that do not belong to one pool, and releases them on both sides.
void before_fork() noexcept {
  default_pool_changes.lock();
  hold_ways_out();
  virtual_time::before_fork();
  before_fork_of_reports();
  live_pool::before_fork();
  topology::before_fork();
  stack_overflow_handler::before_fork();
  sleeping_thread::before_fork();
  hold_exceptions();
  hold_refusal();
  hold_mapping_count();
  hold_regions();
  hold_segments_of_no_pool();
  call_fork_hooks_before();
}
void release_all(bool in_child) noexcept {
  call_fork_hooks_after(in_child);
  release_segments_of_no_pool();
  release_regions();
  release_mapping_count();
  release_refusal();
  release_exceptions();
  sleeping_thread::after_fork();
  stack_overflow_handler::after_fork();
  topology::after_fork();
  live_pool::after_fork();
  after_fork_of_reports(in_child);
  virtual_time::after_fork(in_child);
  release_ways_out();
  default_pool_changes.unlock();
}
void after_fork_in_parent() noexcept { release_all(false); }
void after_fork_in_child() noexcept {
  ++process_number;
  sleeping_thread::forget_all();
  fall_into_fork_trap();
  release_all(true);
}

constinit std::mutex registering;
constinit std::atomic<bool> registered{false};

// False: there was no memory for it.
bool count_forks() noexcept {
  if (registered.load(std::memory_order_acquire)) return true;  // acquire: pairs with the release below, though nothing else is read for it
  std::lock_guard const guard{registering};
  // relaxed: under the lock
  if (registered.load(std::memory_order_relaxed)) return true;
  bool const done = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
  registered.store(done, std::memory_order_release);  // release: as above
  return done;
}

// When this object is loaded, not when the first pool is made: another thread may fork at that moment, and threads that work for no pool
// take these locks before. When this object is loaded, before the program's own constructors, there is no such thread.
[[gnu::constructor(101)]] void count_forks_from_the_start() noexcept { static_cast<void>(count_forks()); }

constinit std::atomic<bool> stays{false};

}  // namespace

void prepare_process() {
  if (!count_forks()) throw std::bad_alloc{};    // most often done already, when this object was loaded
  if (!stays.load(std::memory_order_relaxed)) {  // relaxed: a second call does no harm
    stay_loaded();
    stays.store(true, std::memory_order_relaxed);  // relaxed: as above
  }
  begin_reports_on_signal();
}

// ---- A pool from start to end.

namespace {

// At most one pool of the process pins by default: two would put their workers on the same CPUs. The process_number of that process, or 0.
std::atomic<unsigned> some_pool_is_pinned{0};

// The pools kept by `keep`.
constinit std::atomic<scheduler*> kept{nullptr};

// Why the system has refused a thread: the limit that is almost reached, if one is known.
std::string why_refused() {
  constexpr std::uint64_t all_but = 16;  // other threads start and end at the same time
  if (auto const limit = limit_below(read_thread_limits(), all_but))
    return limit->in_words() + "; ask for fewer workers, or " + limit->remedy;
  return "ask for fewer workers, or raise the limits on threads and memory";
}

}  // namespace

// The options, with the deprecated names copied into `experimental`.
struct scheduler::by_new_names {
  pool_options options;
  explicit by_new_names(pool_options const& o) : options{o} {
    experimental_options& e = options.experimental;
    e.steal = e.steal && o.steal;
    e.back_off = e.back_off && o.back_off;
    if (e.victims == victims::by_distance) e.victims = o.victims;
    if (e.seed == 0) e.seed = o.seed;
    if (e.schedule == schedule::free) e.schedule = o.schedule;
    if (e.simulate.empty()) e.simulate = o.simulate;
    if (e.reclaim == reclaim::dontneed) e.reclaim = o.reclaim;
  }
};

// Reads the machine and checks the options against it, before anything is made.
struct scheduler::site {
  cpu_limits cpus;
  attachments attached;
  topology machine;
  std::vector<place> where;
  std::vector<int> only;  // the CPUs of the pool's place; empty: all that the process may use
  unsigned workers;
  bool pin;
  bool may_move;

  explicit site(pool_options const& o) : cpus{read_cpu_limits()}, attached{o}, machine{attached.machine(cpus)} {
    if (shadow_stacks_are_on()) {
      throw std::system_error{ENOTSUP, std::generic_category(),
                              "nopal::pool: this process runs with shadow stacks, and the first switch between native stacks would end it; "
                              "link the program without -z shstk, or turn them off with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off"};
    }
    if (o.place != nopal::place{}) restrict_to(o.place);
    workers = o.workers != 0 ? o.workers : workers_in_environment();
    bool const of_machine = attached.makes_up_machine() || (o.place != nopal::place{} && !machine.is_this_machine());
    if (workers == 0) workers = of_machine ? machine.pus() : cpus.usable();
    if (workers > tuning::most_workers) {
      reject("workers = " + std::to_string(workers) + " is more than the limit of " + std::to_string(tuning::most_workers) +
             "; workers = 0 takes one per usable CPU, here " + std::to_string(cpus.usable()));
    }
    check_stack_size(o.stack_size);
    check_keep_warm(o.keep_warm);
    check_name(o.name);
    check_blocking_threads(o.blocking_threads);
    check_pin(o);
    check_thread_limits(workers);
    may_move = o.pin.value_or(true) && machine.is_this_machine() && workers <= cpus.cpus.size();
    pin = o.pin.value_or(cpus.whole_machine && may_move);
    where = machine.spread(workers);
  }

  void restrict_to(nopal::place const& p) {
    std::vector<int> const there = machine.cpus_of(p);
    machine.keep_only(there);
    if (machine.is_this_machine() && there.size() < cpus.cpus.size()) cpus.cpus = only = there;
  }

  void check_pin(pool_options const& o) const {
    if (!o.pin.value_or(false)) return;
    if (workers > cpus.cpus.size()) {
      reject("pin = true wants a CPU for each of " + std::to_string(workers) + " workers, but this process may use only " +
             std::to_string(cpus.cpus.size()) + "; ask for at most " + std::to_string(cpus.cpus.size()) + " workers, or leave pin unset");
    }
    if (!machine.is_this_machine()) {
      reject("pin = true has no meaning on a topology that is not this machine's; unset HWLOC_SYNTHETIC, or leave pin unset");
    }
  }
};

scheduler::scheduler(pool_options const& options) : scheduler{by_new_names(options)} {}
scheduler::scheduler(by_new_names const& o) : scheduler{o.options, (prepare_process(), site{o.options})} {}

scheduler::scheduler(pool_options const& o, site&& s)
    : timer_{o.name},
      blocking_{o.name, o.blocking_threads},
      on_thread_start_{o.on_thread_start},
      on_thread_stop_{o.on_thread_stop},
      state_{o,
             s.where,
             s.attached.make({o, state_, s.cpus, s.machine, s.where}),
             s.attached.events(),
             timer_,
             blocking_,
             {search_for_work, run_stolen_task, run_left_stack, find_threads, note_free_memory, take_if_due, give_high}},
      may_pin_{s.pin},
      may_move_{s.may_move},
      only_{std::move(s.only)},
      asked_to_pin_{o.pin.has_value()} {
  state_.on_part = !only_.empty();
  timer_.is_observed(state_.observed.get());
  if (state_.takes_turns) timer_.wait_for_rest();
  bool const fence = heavy_fence_available();
  for (unsigned i = 0; i < s.workers; ++i) make_worker(i, o, s.machine, fence);
  state_.whole = this;
  state_.stacks.use_check(check_memory_of_stacks, note_free_memory, &state_,
                          std::max(tuning::least_stacks_between_looks, state_.memory_limit / state_.stacks.stack_size() / 2));
  state_.in_list.enter(state_, state_.name.c_str());
  start_threads();
}

// For all workers, none of which has a thread.
void scheduler::start_threads() {
  // relaxed: the exchange decides which pool pins, and orders nothing
  state_.pinned = may_pin_ && (asked_to_pin_ || some_pool_is_pinned.exchange(process_number, std::memory_order_relaxed) != process_number);
  holds_pin_ = state_.pinned && !asked_to_pin_;
  state_.keeps_apart = !state_.pinned && may_move_;
  try {
    if (state_.observed != nullptr && state_.observed->needs_timer()) timer_.start();
    for (unsigned i = 0; i < workers(); ++i) {
      start_thread(i);
      if (asked_to_pin_ && state_.pinned) wait_until_placed(i);
    }
    if (state_.events.source() != nullptr) {
      timer_.start();
      look_at_events_later(state_);
    }
  } catch (...) {
    stop();
    throw;
  }
  state_.process.store(process_number, std::memory_order_seq_cst);
}

void scheduler::make_worker(unsigned i, pool_options const& o, topology const& machine, bool fence) {
  workers_.push_back(std::make_unique<worker>(state_, i, o.experimental.seed));
  worker& w = *workers_.back();
  state_.workers.push_back(&w);
  w.search.victims = o.experimental.victims == victims::by_distance
                         ? victim_table{machine, state_.places, i}
                         : victim_table{o.experimental.victims, static_cast<unsigned>(state_.places.size()), i};
  if (!fence) {
    w.work.hide_nothing();
    w.ready.hide_nothing();
  }
  stack* const first = state_.stacks.try_get(i);
  if (first == nullptr) {
    throw std::system_error{ENOMEM, std::generic_category(),
                            "nopal::pool: no address space for the first native stack of worker " + std::to_string(i) + ", of " +
                                std::to_string(state_.stacks.stack_size()) + " bytes; lower stack_size or the number of workers"};
  }
  w.stacks.put(first);
}

void scheduler::start_thread(unsigned i) {
  only_own_signals const until_it_has_begun;
  not_for_leak_check const what_it_is_given;
  try {
    threads_.emplace_back([this, i] { run_thread(i); });
  } catch (std::system_error const& e) {
    throw std::system_error{e.code(), "nopal::pool: only " + std::to_string(i) + " of " + std::to_string(workers()) +
                                          " worker threads could be created; " + why_refused()};
  }
}

// On the thread of worker i, which begins: moves it to its CPU, and stores the result.
void scheduler::place_this_thread(unsigned i) noexcept {
  placed_.store(static_cast<std::uint32_t>(move_to_cpu(state_.places[i].cpu)), std::memory_order_seq_cst);
  std_sync::wake(placed_);
}

// On the thread that makes the pool, if the options ask for pinning: the thread of worker i has begun, and the next one has not. Throws if
// that thread could not be moved.
void scheduler::wait_until_placed(unsigned i) {
  std::uint32_t error = not_placed;
  while ((error = placed_.load(std::memory_order_seq_cst)) == not_placed) std_sync::wait(placed_, not_placed);
  placed_.store(not_placed, std::memory_order_seq_cst);
  if (error == 0) return;
  throw std::system_error{static_cast<int>(error), std::generic_category(),
                          "nopal::pool: pin = true could not put worker " + std::to_string(i) + " on CPU " +
                              std::to_string(state_.places[i].cpu) + "; leave pin unset"};
}

// Out of line, since GCC 12 warns otherwise that the address of a pool which is a local variable dangles.
void scheduler::belongs_to(pool& p) noexcept { state_.owner = &p; }

// Calls the program's hook on worker i's thread, if there is one.
static void call_hook(std::function<void(unsigned)> const& f, unsigned i, char const* name) noexcept {
  if (!f) return;
  try {
    f(i);
  } catch (...) {
    die_in(nullptr, "pool_options::%s has thrown (%s), on the thread of worker %u, where nobody can catch it; catch it inside", name,
           message_of(caught()), i);
  }
}

// The body of worker i's thread. It leaves its own stack for the worker's first one. When the pool ends, its own stack is resumed, maybe by
// another native stack than that first one.
void scheduler::run_thread(unsigned i) noexcept {
  take_own_signals();
  take_alternate_stack();
  std::array<char, 12> number;
  keep_to_cpus(only_);
  if (state_.pinned) place_this_thread(i);
  name_this_thread(state_.name, {number.data(), std::to_chars(number.data(), number.data() + number.size(), i).ptr});
  call_hook(on_thread_start_, i, "on_thread_start");
  worker& w = *workers_[i];
  work_for(&w);
  context own;
  w.began_on = w.thread_began_on = &own;
  w.began_on_frame = w.thread_began_on_frame = frames_here();
  w.here = w.stacks.get();  // put there by the constructor, or by the thread that worked here before
  w.here->begin(search_for_work);
  observer* const observed = state_.observed.get();
  if (observed != nullptr) observed->thread_begins(i);
  switch_to(own, *w.here);
  if (observed != nullptr) observed->thread_ends(i);
  work_for(nullptr);
  call_hook(on_thread_stop_, i, "on_thread_stop");
}

// Ends the threads. Nothing is submitted any more; the workers search, or sleep.
void scheduler::stop() noexcept {
  state_.stopping.store(true,
                        std::memory_order_seq_cst);  // before notify looks at the threads' states: pairs with the load in must_stay_awake
  for (unsigned i = 0; i < workers(); ++i) state_.parking.call(i);
  state_.naps.end();
  if (state_.limit != nullptr) state_.limit->let_in(state_.stopping);
  if (state_.observed != nullptr) state_.observed->pool_ends();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
  blocking_.stop();                                             // no strand waits for a call any more
  timer_.stop();                                                // before the workers are destroyed: the timer's thread reads their states
  state_.asks_for_due.store(false, std::memory_order_relaxed);  // relaxed, the four of them: no thread works for the pool
  state_.asks_for_high.store(false, std::memory_order_relaxed);
  state_.watches_low.store(false, std::memory_order_relaxed);
  state_.looks_at_memory.store(false, std::memory_order_relaxed);
  state_.events.timer_rests();
  if (holds_pin_) some_pool_is_pinned.store(0, std::memory_order_relaxed);  // relaxed: it orders nothing, as in the constructor
}

scheduler::~scheduler() {
  wait_for_all(state_);
  state_.in_list.leave();  // before the workers are destroyed, which debuggers read
  stop();
  if (state_.observed != nullptr) state_.observed->pool_has_ended();
  forget_last_worker();
}

void scheduler::end(scheduler* s) noexcept {
  if (!s->state_.has_threads()) return keep(*s);
  worker const* const w = current_or_null();
  if (w == nullptr || &w->pool() != &s->state_) {
    delete s;
  } else if (is_in_exit()) {
    keep(*s);
  } else {
    die("a pool was destroyed by a task that runs on it; let a thread outside the pool own and destroy it");
  }
}

void scheduler::keep(scheduler& s) noexcept {
  s.next_kept_ = kept.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
  // release: pairs with the load in note_kept_for_leak_check. relaxed: as above.
  while (!kept.compare_exchange_weak(s.next_kept_, &s, std::memory_order_release, std::memory_order_relaxed)) {
  }
  if (s.next_kept_ == nullptr) call_before_leak_check(note_kept_for_leak_check);
  static constinit std::atomic_flag told{};
  // relaxed: the flag only decides who registers it
  if (s.state_.observed != nullptr && !told.test_and_set(std::memory_order_relaxed)) static_cast<void>(std::atexit(tell_kept));
}

// The process ends, and these pools do not.
void scheduler::tell_kept() noexcept {
  // acquire: pairs with the release in keep
  for (scheduler const* s = kept.load(std::memory_order_acquire); s != nullptr; s = s->next_kept_) {
    if (s->state_.has_threads() && s->state_.observed != nullptr) s->state_.observed->process_ends();
  }
}

// The process ends. The child of a fork has nothing to report: it cannot know what its parent's threads pointed to.
void scheduler::note_kept_for_leak_check() noexcept {
  // acquire: pairs with the release in keep
  for (scheduler const* s = kept.load(std::memory_order_acquire); s != nullptr; s = s->next_kept_) {
    if (s->state_.has_threads()) note_for_leak_check(s->state_);
  }
}

// Any thread may bring work at any time. It counts the work, then looks whether there are threads; this thread stores that there are none,
// then reads the counts. So either this thread sees the work, and the threads stay; or the other waits for the lock, and starts them again.
bool scheduler::end_threads(time_point deadline) noexcept {
  while (wait_for_all(state_, deadline)) {
    std::lock_guard const guard{default_pool_changes};
    if (!state_.has_threads()) return true;  // another call of shutdown was first
    state_.process.store(0, std::memory_order_seq_cst);
    if (wait_for_all(state_, std::chrono::steady_clock::now())) {
      stop();
      if (state_.observed != nullptr) state_.observed->pool_has_ended();
      handler_.reset();
      return true;
    }
    state_.process.store(process_number, std::memory_order_seq_cst);
  }
  return false;
}

void scheduler::need_threads() {
  unsigned const in = state_.process.load(std::memory_order_seq_cst);
  if (in == process_number) return;
  if (in != 0) {
    die("fork: a pool of the parent process was used in the child, where its threads are not; make a nopal::pool there, or call "
        "nopal::shutdown first and use the default pool");
  }
  if (!heavy_fence_available()) {
    for (auto const& w : workers_) {
      w->work.hide_nothing();
      w->ready.hide_nothing();
    }
  }
  begin_reports_on_signal();  // in the child of a fork there may be no thread for them yet
  handler_.emplace();
  state_.stopping.store(false, std::memory_order_seq_cst);  // no thread reads it now
  if (state_.observed != nullptr) state_.observed->pool_begins_again();
  try {
    start_threads();
  } catch (...) {
    handler_.reset();
    throw;
  }
}

void scheduler::find_threads(pool_state& pool) noexcept {
  std::lock_guard const guard{default_pool_changes};
  try {
    pool.whole->need_threads();
  } catch (std::exception const& e) {
    die_in(nullptr, "the threads that nopal::shutdown has ended could not be started again: %s", e.what());
  }
}

stats read_stats(pool_state const& pool) {
  stats all;
  std::vector<std::uint64_t> const pages = pool.stacks.resident_pages_by_maker();
  for (worker const* w : pool.workers) {
    worker_stats one;
    for (std::size_t k = 0; k < public_counters.size(); ++k) one.*public_counters[k] = w->count.read(static_cast<counted>(k));
    stack_counts const its = pool.stacks.counts(w->index());
    one.stacks_live = its.live;
    one.stacks_peak = its.peak;
    one.unmaps = its.unmaps;
    one.purges = its.purges;
    one.pages_returned = its.pages_returned;
    one.stack_pages = pages[w->index()];
    all.per_worker.push_back(one);
    all += one;
  }
  // Not the sums: the workers' peaks were at different times, and their numbers of stacks were read one after the other.
  stack_counts const c = pool.stacks.counts();
  all.stacks_live = c.live;
  all.stacks_peak = c.peak;
  stacklet_counts const segments = pool.stacklets.counts();
  all.segment_bytes = segments.used;
  all.segment_bytes_peak = segments.used_peak;
  all.segment_bytes_free = segments.free;
  all.stack_pages_peak = std::max(all.stack_pages, pool.stacks.most_pages_held(pool.size()));
  if (pool.observed != nullptr) all.lost_turns = pool.observed->lost_turns();
  return all;
}

}  // namespace nopal::core

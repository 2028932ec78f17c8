#include "nopal/core/scheduler/scheduler.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "nopal/core/architecture/shadow_stack.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/machine/cpus.hpp"
#include "nopal/core/machine/own_cpu.hpp"
#include "nopal/core/scheduler/external_caller.hpp"
#include "nopal/core/scheduler/search.hpp"
#include "nopal/core/scheduler/signals.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/thread_name.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/task/strand_loop.hpp"

namespace nopal::core {

namespace {

// At most one pool of the process pins by default: two would put their workers on the same CPUs.
std::atomic<bool> some_pool_is_pinned{false};

[[noreturn]] void reject(std::string const& what) { throw std::invalid_argument{"nopal::pool: " + what}; }

void check_stack_size(std::size_t n) {
  if (n < tuning::least_stack) {
    reject("stack_size = " + std::to_string(n) + " bytes is less than the " + std::to_string(tuning::least_stack) +
           " that a native stack needs; leave it at its default of 1 MiB");
  }
  if (n > tuning::most_stack) {
    reject("stack_size = " + std::to_string(n) + " bytes is more than the limit of " + std::to_string(tuning::most_stack) +
           "; leave it at its default of 1 MiB");
  }
}

void check_name(std::string const& name) {
  auto const is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::none_of(name.begin(), name.end(), is_control)) return;
  std::string shown;
  for (char const c : name) shown += is_control(static_cast<unsigned char>(c)) ? '?' : c;
  reject("name = \"" + shown + "\" has a control character (shown as ?), and reports have a line for each thing; use printable ones");
}

std::unique_ptr<controlled_schedule> make_control(pool_options const& o, unsigned workers) {
  schedule_choice const s = o.schedule != schedule::free ? schedule_choice{o.schedule, o.seed} : schedule_choice::from_environment();
  return s.how == schedule::free ? nullptr : std::make_unique<controlled_schedule>(s, workers);
}

}  // namespace

// Reads the machine and checks the options against it, before anything is made.
struct scheduler::site {
  cpu_limits cpus;
  topology machine;
  unsigned workers;
  bool pin;

  explicit site(pool_options const& o) : cpus{read_cpu_limits()}, machine{topology::load(cpus.cpus)} {
    if (shadow_stacks_are_on()) {
      throw std::system_error{ENOTSUP, std::generic_category(),
                              "nopal::pool: this process runs with shadow stacks, and the first switch between native stacks would end it; "
                              "link the program without -z shstk, or turn them off with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off"};
    }
    workers = o.workers != 0 ? o.workers : cpus.usable();
    if (workers > tuning::most_workers) {
      reject("workers = " + std::to_string(workers) + " is more than the limit of " + std::to_string(tuning::most_workers) +
             "; workers = 0 takes one per usable CPU, here " + std::to_string(cpus.usable()));
    }
    check_stack_size(o.stack_size);
    check_name(o.name);
    check_pin(o);
    pin = o.pin.value_or(cpus.whole_machine && machine.is_this_machine() && workers <= cpus.cpus.size());
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

scheduler::scheduler(pool_options const& options) : scheduler{options, site{options}} {}

scheduler::scheduler(pool_options const& o, site&& s)
    : timer_{o.name},
      state_{o, s.machine.spread(s.workers), make_control(o, s.workers), timer_, {search_for_work, run_stolen_task, run_left_stack}} {
  bool const fence = heavy_fence_available();
  for (unsigned i = 0; i < s.workers; ++i) make_worker(i, o, s.machine, fence);
  // relaxed: the exchange decides which pool pins, and orders nothing
  state_.pinned = s.pin && (o.pin.has_value() || !some_pool_is_pinned.exchange(true, std::memory_order_relaxed));
  holds_pin_ = state_.pinned && !o.pin.has_value();
  try {
    for (unsigned i = 0; i < s.workers; ++i) {
      start_thread(i);
      if (o.pin.value_or(false)) wait_until_placed(i);
    }
  } catch (...) {
    stop();
    throw;
  }
}

void scheduler::make_worker(unsigned i, pool_options const& o, topology const& machine, bool fence) {
  workers_.push_back(std::make_unique<worker>(state_, i, o.seed));
  worker& w = *workers_.back();
  state_.workers.push_back(&w);
  w.search.victims = victim_table{machine, state_.places, i};
  if (!fence) {
    w.work.hide_nothing();
    w.ready.hide_nothing();
  }
  stack* const first = state_.stacks.get(i);
  if (first == nullptr) {
    throw std::system_error{ENOMEM, std::generic_category(),
                            "nopal::pool: no address space for the first native stack of worker " + std::to_string(i) + ", of " +
                                std::to_string(state_.stacks.stack_size()) + " bytes; lower stack_size or the number of workers"};
  }
  w.stacks.put(first);
}

void scheduler::start_thread(unsigned i) {
  only_own_signals const until_it_has_begun;
  try {
    threads_.emplace_back([this, i] { run_thread(i); });
  } catch (std::system_error const& e) {
    throw std::system_error{e.code(), "nopal::pool: only " + std::to_string(i) + " of " + std::to_string(workers()) +
                                          " worker threads could be created; ask for fewer workers, or raise the limit on threads"};
  }
}

// On the thread of worker i, which begins: moves it to its CPU, and says what came of it.
void scheduler::place_this_thread(unsigned i) noexcept {
  placed_.store(static_cast<std::uint32_t>(move_to_cpu(state_.places[i].cpu)), std::memory_order_seq_cst);
  std_sync::wake(placed_);
}

// On the thread that makes the pool, where pinning was asked for: the thread of worker i has begun, and the next one has not. Throws where
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

// The body of worker i's thread. It leaves its own stack for the worker's first one, and resumes its own when the pool ends: then maybe at
// the end of another native stack than that first one.
void scheduler::run_thread(unsigned i) noexcept {
  take_own_signals();
  take_alternate_stack();
  std::array<char, 12> number;
  if (state_.pinned) place_this_thread(i);
  name_this_thread(state_.name, {number.data(), std::to_chars(number.data(), number.data() + number.size(), i).ptr});
  worker& w = *workers_[i];
  work_for(&w);
  context home;
  w.home = w.thread_home = &home;
  w.here = w.stacks.get();  // the constructor has put one there
  w.here->begin(search_for_work);
  if (state_.control != nullptr) state_.control->enter(i);
  switch_to(home, *w.here);
  work_for(nullptr);
}

// Ends the threads. Nothing is submitted any more; the workers search, or sleep.
void scheduler::stop() noexcept {
  state_.stopping.store(true, std::memory_order_seq_cst);  // before notify looks at the threads' states: pairs with the load in must_stay
  for (unsigned i = 0; i < workers(); ++i) state_.parking.call(i);
  if (state_.control != nullptr) state_.control->end();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
  timer_.stop();  // before the workers go: its thread reads their states
  if (holds_pin_) some_pool_is_pinned.store(false, std::memory_order_relaxed);  // relaxed: it orders nothing, as in the constructor
}

scheduler::~scheduler() {
  if (worker* const w = current_or_null(); w != nullptr && &w->pool() == &state_) {
    die("a pool was destroyed by a task that runs on it; let a thread outside the pool own and destroy it");
  }
  wait_for_all(state_);
  stop();
  forget_last_worker();
}

}  // namespace nopal::core

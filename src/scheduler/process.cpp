#include "nopal/core/scheduler/process.hpp"

#include <pthread.h>

#include <atomic>
#include <new>

#include "nopal/core/base/process.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/machine/topology.hpp"
#include "nopal/core/scheduler/fork_trap.hpp"
#include "nopal/core/scheduler/live_pools.hpp"
#include "nopal/core/stack/stack_overflow.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/core/stack/stack_region.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "report/held_exceptions.hpp"
#include "report/report_on_signal.hpp"

namespace nopal::inline NOPAL_ABI::core {

constinit std::mutex default_pool_changes;

namespace {

// A fork copies a lock as it is: if another thread held it, no thread could unlock it in the child. So the thread that forks takes the
// locks that do not belong to one pool, and releases them on both sides.
void before_fork() noexcept {
  default_pool_changes.lock();
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
  call_fork_hooks_before();
}
void release_all(bool in_child) noexcept {
  call_fork_hooks_after(in_child);
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

}  // namespace nopal::core

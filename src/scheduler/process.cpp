#include "nopal/core/scheduler/process.hpp"

#include <pthread.h>

#include <atomic>
#include <new>

#include "nopal/core/base/process.hpp"
#include "nopal/core/base/stay_loaded.hpp"
#include "nopal/core/scheduler/fork_trap.hpp"
#include "nopal/core/stack/mapping_limit.hpp"
#include "nopal/core/stack/refusal.hpp"
#include "nopal/core/stack/stack_overflow.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

namespace nopal::core {

constinit std::mutex default_pool_changes;

namespace {

// A fork copies a lock as it is: if another thread held it, nobody would ever unlock it in the child. So the thread that forks takes those
// that do not belong to one pool, and gives them back on both sides.
void before_fork() noexcept {
  default_pool_changes.lock();
  stack_overflow_handler::before_fork();
  sleeping_thread::before_fork();
  hold_refusal();
  hold_mapping_count();
}
void after_fork_in_parent() noexcept {
  release_mapping_count();
  release_refusal();
  sleeping_thread::after_fork();
  stack_overflow_handler::after_fork();
  default_pool_changes.unlock();
}
void after_fork_in_child() noexcept {
  ++process_number;
  sleeping_thread::forget_all();
  fall_into_fork_trap();
  after_fork_in_parent();
}

constinit std::mutex preparing;
constinit std::atomic<bool> prepared{false};

}  // namespace

void prepare_process() {
  if (prepared.load(std::memory_order_acquire)) return;  // acquire: pairs with the release below, though nothing else is read for it
  stay_loaded();
  std::lock_guard const guard{preparing};
  if (prepared.load(std::memory_order_relaxed)) return;  // relaxed: under the lock
  if (::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) throw std::bad_alloc{};
  prepared.store(true, std::memory_order_release);  // release: as above
}

}  // namespace nopal::core

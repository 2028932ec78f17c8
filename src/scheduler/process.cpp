#include "nopal/core/scheduler/process.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "nopal/core/base/process.hpp"
#include "nopal/core/base/stay_loaded.hpp"
#include "nopal/core/scheduler/fork_trap.hpp"
#include "nopal/core/stack/stack_overflow.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

// Not in programs that are linked statically, where a function's address is the function's.
#pragma weak dlsym

namespace nopal::core {

constinit std::mutex default_pool_changes;

namespace {

// A fork copies a lock as it is: if another thread held it, nobody would ever unlock it in the child. So the thread that forks takes those
// that do not belong to one pool, and gives them back on both sides.
void before_fork() noexcept {
  default_pool_changes.lock();
  stack_overflow_handler::before_fork();
  sleeping_thread::before_fork();
}
void after_fork_in_parent() noexcept {
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

struct walk {
  void const* exit;
  bool found = false;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* data) {
  auto& w = *static_cast<walk*>(data);
  int before = 0;
  auto pc = _Unwind_GetIPInfo(frame, &before);
  // A return address lies behind the call, which may be the last instruction of its function. The function below looks one byte before it.
  if (before != 0) ++pc;
  void const* const function = _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(pc));  // NOLINT(performance-no-int-to-ptr)
  w.found = function != nullptr && (function == w.exit || function == reinterpret_cast<void const*>(&std::exit));
  return w.found ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

}  // namespace

void prepare_process() {
  if (prepared.load(std::memory_order_acquire)) return;  // acquire: pairs with the release below, though nothing else is read for it
  stay_loaded();
  std::lock_guard const guard{preparing};
  if (prepared.load(std::memory_order_relaxed)) return;  // relaxed: under the lock
  if (::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) throw std::bad_alloc{};
  prepared.store(true, std::memory_order_release);  // release: as above
}

// In a program that is not position-independent the address of exit is a stub in the program; the loader knows the function.
bool is_in_exit() noexcept {
  walk w{&::dlsym != nullptr ? ::dlsym(RTLD_NEXT, "exit") : nullptr};
  _Unwind_Backtrace(look_at_frame, &w);
  return w.found;
}

}  // namespace nopal::core

#include "nopal/core/base/process.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <cstdlib>

// Not in programs that are linked statically, where a function's address is the function's.
#pragma weak dlsym

// Weak for programs that are linked statically: these have neither, and unload nothing.
#pragma weak dladdr
#pragma weak dlopen

namespace nopal::inline NOPAL_ABI::core {

constinit unsigned process_number = 1;

static constinit std::atomic<fork_hook*> hooks{nullptr};

void call_at_fork(fork_hook& h) noexcept {
  h.next = hooks.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
  // release: pairs with the acquires below. relaxed: as above.
  while (!hooks.compare_exchange_weak(h.next, &h, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void call_fork_hooks_before() noexcept {
  for (fork_hook const* h = hooks.load(std::memory_order_acquire); h != nullptr; h = h->next) h->before();  // acquire: call_at_fork
}

void call_fork_hooks_after(bool in_child) noexcept {
  for (fork_hook const* h = hooks.load(std::memory_order_acquire); h != nullptr; h = h->next) h->after(in_child);  // acquire: as above
}

// The C library does not tell. But exit has called the functions that run in it, so its frame is on the stack.

namespace {

struct walk {
  void const* exit;
  bool found = false;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* data) {
  auto& w = *static_cast<walk*>(data);
  int before = 0;
  auto pc = _Unwind_GetIPInfo(frame, &before);
  // A return address is behind the call, which may be the last instruction of its function. The function below looks one byte before it.
  if (before != 0) ++pc;
  void const* const function = _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(pc));  // NOLINT(performance-no-int-to-ptr)
  w.found = function != nullptr && (function == w.exit || function == reinterpret_cast<void const*>(&std::exit));
  return w.found ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

}  // namespace

// In a program that is not position-independent the address of exit is that of a stub in the program; the loader knows the function.
bool is_in_exit() noexcept {
  walk w{&::dlsym != nullptr ? ::dlsym(RTLD_NEXT, "exit") : nullptr};
  _Unwind_Backtrace(look_at_frame, &w);
  return w.found;
}

// The loader finds the object by its recorded name, also if there is no such file any more.
void stay_loaded() noexcept {
  if (&::dladdr == nullptr || &::dlopen == nullptr) return;
  Dl_info self{};
  if (::dladdr(reinterpret_cast<void*>(&stay_loaded), &self) == 0 || self.dli_fname == nullptr) return;
  static_cast<void>(::dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace nopal::core

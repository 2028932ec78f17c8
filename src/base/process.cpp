#include "nopal/core/base/process.hpp"
#include "nopal/core/base/fatal.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

// Not in programs that are linked statically, where a function's address is the function's.
#pragma weak dlsym

// Weak for programs that are linked statically: these have neither, and unload nothing.
#pragma weak dladdr
#pragma weak dlopen

namespace nopal::inline NOPAL_ABI::core {

// ---- Forks, the end of the process, and staying loaded.

constinit unsigned process_number = 1;

static constinit std::atomic<fork_hook*> hooks{nullptr};
static constinit fork_hook const* called_before = nullptr;  // the first of those called before a fork; by the thread that forks

void call_at_fork(fork_hook& h) noexcept {
  h.next = hooks.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
  // release: pairs with the acquires below. relaxed: as above.
  while (!hooks.compare_exchange_weak(h.next, &h, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void call_fork_hooks_before() noexcept {
  called_before = hooks.load(std::memory_order_acquire);  // acquire: call_at_fork
  for (fork_hook const* h = called_before; h != nullptr; h = h->next) h->before();
}

void call_fork_hooks_after(bool in_child) noexcept {
  for (fork_hook const* h = called_before; h != nullptr; h = h->next) h->after(in_child);  // not those that have come meanwhile
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

// ---- Fatal errors.

// The message is flushed first, in case the search for the function's name fails.
[[noreturn]] static void die_saying(char const* what, void const* function) noexcept {
  std::fputs("nopal: ", stderr);
  std::fputs(what, stderr);
  if (process_number != 1) std::fputs(" (this process is the child of a fork, and has none of its parent's threads)", stderr);
  std::fflush(stderr);
  print_place(function);
  std::fputc('\n', stderr);
  std::fflush(stderr);
  std::abort();
}

void die(char const* what) noexcept { die_saying(what, nullptr); }

void die_in(void const* function, char const* format, ...) noexcept {
  std::array<char, 1024> text;
  std::va_list rest;
  va_start(rest, format);
  std::vsnprintf(text.data(), text.size(), format, rest);
  va_end(rest);
  die_saying(text.data(), function);
}

void die_unless_in_exit(char const* what) noexcept {
  if (!is_in_exit()) die(what);
}

std::exception_ptr caught() noexcept {
  std::exception_ptr e = std::current_exception();
  if (e == nullptr) {
    die("pthread_exit or pthread_cancel in a job, or in a hook of its pool, whose thread is not theirs to end; let them return, or the job "
        "throw an exception");
  }
  return e;
}

char const* message_of(std::exception_ptr const& e) noexcept {
  try {
    std::rethrow_exception(e);
  } catch (std::exception const& x) {
    return x.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace nopal::core

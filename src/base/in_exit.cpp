// The C library does not tell. But exit has called the functions that run in it, so its frame is on the stack.

#include "nopal/core/base/in_exit.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <cstdlib>

// Not in programs that are linked statically, where a function's address is the function's.
#pragma weak dlsym

namespace nopal::inline NOPAL_ABI::core {

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

}  // namespace nopal::core

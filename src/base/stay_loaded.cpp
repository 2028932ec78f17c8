#include "nopal/core/base/stay_loaded.hpp"

#include <dlfcn.h>

// Weak for programs that are linked statically: these have neither, and unload nothing.
#pragma weak dladdr
#pragma weak dlopen

namespace nopal::inline NOPAL_ABI::core {

// The loader finds the object by its recorded name, also if there is no such file any more.
void stay_loaded() noexcept {
  if (&::dladdr == nullptr || &::dlopen == nullptr) return;
  Dl_info self{};
  if (::dladdr(reinterpret_cast<void*>(&stay_loaded), &self) == 0 || self.dli_fname == nullptr) return;
  static_cast<void>(::dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace nopal::core

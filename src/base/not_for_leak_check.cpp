#include "nopal/core/base/not_for_leak_check.hpp"

extern "C" {
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
}

namespace nopal::inline NOPAL_ABI::core {

not_for_leak_check::not_for_leak_check() noexcept {
  if (&__lsan_disable != nullptr) __lsan_disable();
}
not_for_leak_check::~not_for_leak_check() {
  if (&__lsan_enable != nullptr) __lsan_enable();
}

}  // namespace nopal::core

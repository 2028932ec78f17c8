#include "nopal/mutex.hpp"

#include <system_error>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stack/stack.hpp"

namespace nopal::inline NOPAL_ABI {

static_assert(alignof(core::stack) >= 8, "the flags of a mutex lie in the low bits of its owner's address");

// The mutex is owned, by another or by the caller, or threads are at its queue. The caller owns it afterwards, unless this throws.
void mutex::lock_slowly() {
  std::uintptr_t const self = core::self();
  if (word_.owner() == self) {
    core::self_unlocking();
    throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "nopal: a mutex was locked by the fiber, task or thread that has locked it already and would wait for itself; "
                            "unlock it first, or tell the function that locks it again that it is locked"};
  }
  word_.lock_in_turn(self);
}

bool mutex::try_lock_slowly() noexcept { return word_.try_lock_slowly(core::self()); }
void mutex::unlock_slowly(std::uintptr_t self) noexcept { word_.unlock_slowly(self); }

// The mutex is being destroyed, and is locked or waited for. Other threads may still use it.
void mutex::die_destroyed() noexcept {
  core::die_unless_in_exit(word_.is_awaited()
                               ? "a mutex was destroyed while a fiber, task or thread waits for it; let it outlive every lock()"
                               : "a mutex was destroyed while it is locked; unlock it first");
}

}  // namespace nopal

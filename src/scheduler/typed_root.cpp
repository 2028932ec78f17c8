#include "nopal/core/scheduler/typed_root.hpp"

#include "nopal/core/base/fatal.hpp"

namespace nopal::inline NOPAL_ABI::core {

void die_detached(std::exception_ptr e, void const* function) noexcept {  // NOLINT(performance-unnecessary-value-param): it does not return
  die_in(function, "an exception left a job that was given to pool::detach (%s); catch it there, or use pool::submit", message_of(e));
}

}  // namespace nopal::core

#include "nopal/cpu_limit.hpp"

#include <stdexcept>

#include "nopal/core/scheduler/permits.hpp"

namespace nopal::inline NOPAL_ABI {

cpu_limit::cpu_limit(unsigned workers) {
  if (workers == 0) throw std::invalid_argument{"nopal::cpu_limit: 0 workers may run, and so nothing would; ask for at least 1"};
  permits_ = std::make_shared<core::permits>(workers);
}

unsigned cpu_limit::workers() const noexcept { return permits_->all(); }
unsigned cpu_limit::running() const noexcept { return permits_->taken(); }

}  // namespace nopal

#include "nopal/floating_point.hpp"

#include <cfenv>
#include <stdexcept>
#include <string>

#include "nopal/core/stack/native_fork.hpp"

namespace nopal::inline NOPAL_ABI {

void floating_point_mode_changed() noexcept {
  if (core::worker* const w = core::current_or_null(); w != nullptr) core::mode_changed(*w);
}

floating_point_mode::floating_point_mode(int rounding) {
  if (std::fesetround(rounding) != 0) {
    std::string message{"nopal::floating_point_mode: rounding = "};
    message += std::to_string(rounding);
    message += " is none of the processor's; give FE_TONEAREST, FE_UPWARD, FE_DOWNWARD or FE_TOWARDZERO";
    throw std::invalid_argument{message};
  }
  floating_point_mode_changed();
}

floating_point_mode::~floating_point_mode() {
  before_.adopt();
  floating_point_mode_changed();
}

}  // namespace nopal

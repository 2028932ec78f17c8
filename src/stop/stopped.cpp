#include "nopal/core/stop/stopped.hpp"

namespace nopal::inline NOPAL_ABI {

stopped::~stopped() = default;
char const* stopped::what() const noexcept { return "nopal: stopped, as was requested"; }

}  // namespace nopal

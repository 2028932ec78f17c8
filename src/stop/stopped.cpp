#include "nopal/core/stop/stopped.hpp"

namespace nopal::inline NOPAL_ABI {

stopped::~stopped() = default;
char const* stopped::what() const noexcept { return "nopal: stopped, as was requested"; }

bool core::is_stopped(std::exception_ptr const& e) noexcept {
  try {
    std::rethrow_exception(e);
  } catch (stopped const&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace nopal

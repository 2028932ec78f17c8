#include "nopal/core/stop/stopped.hpp"

namespace nopal {

stopped::~stopped() = default;
char const* stopped::what() const noexcept { return "nopal: stopped, as was requested"; }

}  // namespace nopal

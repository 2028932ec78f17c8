#include "nopal/version.hpp"

#include <string_view>

namespace nopal {

// NOPAL_PROJECT_VERSION is what CMake says.
static_assert(std::string_view{NOPAL_PROJECT_VERSION} == NOPAL_VERSION_STRING, "write the version in CMakeLists.txt and nopal/version.hpp");

int version() noexcept { return NOPAL_VERSION; }

}  // namespace nopal

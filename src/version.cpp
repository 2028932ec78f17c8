#include "nopal/version.hpp"

#include <string_view>

namespace nopal {

#ifdef NOPAL_PROJECT_VERSION  // by CMake: what it says
static_assert(std::string_view{NOPAL_PROJECT_VERSION} == NOPAL_VERSION_STRING, "write the version in CMakeLists.txt and nopal/version.hpp");
#endif

int version() noexcept { return NOPAL_VERSION; }

}  // namespace nopal

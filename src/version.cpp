#include "nopal/version.hpp"

#include <cstddef>
#include <string_view>

namespace nopal::inline NOPAL_ABI {

#ifdef NOPAL_PROJECT_VERSION  // by CMake: the version there
static_assert(std::string_view{NOPAL_PROJECT_VERSION} == NOPAL_VERSION_STRING, "write the version in CMakeLists.txt and nopal/version.hpp");
#endif

#define NOPAL_TEXT_OF(...) #__VA_ARGS__
#define NOPAL_TEXT(macro) NOPAL_TEXT_OF(macro)

namespace {

/// True if the ABI is named after the version's first two numbers.
constexpr bool names_the_version(std::string_view abi) noexcept {
  std::string_view const version = NOPAL_VERSION_STRING;
  std::string_view const of_abi = version.substr(0, version.rfind('.'));
  if (abi.size() != of_abi.size() + 1 || abi.front() != 'v') return false;
  for (std::size_t i = 0; i < of_abi.size(); ++i) {
    if (abi[i + 1] != (of_abi[i] == '.' ? '_' : of_abi[i])) return false;
  }
  return true;
}

}  // namespace

static_assert(names_the_version(NOPAL_TEXT(NOPAL_ABI)), "write the version's first two numbers in nopal/core/compiler/abi.h, NOPAL_ABI");
static_assert(std::string_view{NOPAL_TEXT(NOPAL_SAME_ABI)} == "nopal_must_be_of_abi_" NOPAL_TEXT(NOPAL_ABI) "_as_this_program_is",
              "write the ABI in nopal/core/compiler/abi.h, NOPAL_SAME_ABI");
static_assert(NOPAL_VERSION_STRING ==
                  std::string_view{NOPAL_TEXT(NOPAL_VERSION_MAJOR) "." NOPAL_TEXT(NOPAL_VERSION_MINOR) "." NOPAL_TEXT(NOPAL_VERSION_PATCH)},
              "write the version's numbers in nopal/version.hpp");

int version() noexcept { return NOPAL_VERSION; }

}  // namespace nopal

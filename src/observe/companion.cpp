// The table of nopal::core, which has no companions. CMakeLists.txt makes the table of nopal::nopal.

#include "observe/companion.hpp"

namespace nopal::inline NOPAL_ABI::core {

std::span<companion const* const> companions() noexcept { return {}; }

}  // namespace nopal::core

#include "nopal/profile/what_if.hpp"

#include <string_view>

namespace nopal::inline NOPAL_ABI::core {

bool is_asked(asked_place const& place, site_id site) noexcept {
  std::source_location const here = place_of(site);
  return here.line() == place.line && std::string_view{here.file_name()}.ends_with(place.file);
}

}  // namespace nopal::core

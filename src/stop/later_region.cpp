#include "nopal/core/stop/later_region.hpp"

#include <new>

#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

// A thief begins one each time that it steals a branch, so it takes from its worker's cache.
static stop_region* begin(worker& w, join_word const& join) noexcept {
  try {
    return &w.spare_regions.get(join, w.region);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

later_region::later_region(worker& w, join_word const& join) noexcept : mine_{begin(w, join)} {
  if (mine_ != nullptr) w.region = mine_->id();
}
later_region::~later_region() {
  if (mine_ != nullptr) current()->spare_regions.put(*mine_);
}

}  // namespace nopal::core

#include "nopal/when_all.hpp"

namespace nopal::inline NOPAL_ABI::core {

// One after the other: the last that ends decides, in any order of the waits.
bool all_set(completion* const* all, std::size_t n, time_point deadline) {
  for (std::size_t k = 0; k < n; ++k) {
    if (deadline == time_point::max()) {
      all[k]->wait();
    } else if (!all[k]->wait_until(deadline)) {
      return false;
    }
  }
  return true;
}

}  // namespace nopal::core

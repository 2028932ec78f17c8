#include "nopal/core/wait/watch.hpp"

#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core {

bool watcher::wait(time_point deadline, char const* what) {
  if (deadline == time_point::max() && !wait_may_end_early()) {
    told_.acquire_slowly(what);  // which looks first whether there is a permit
  } else if (!told_.acquire_until(deadline, what)) {
    return false;
  }
  ++absorbed_;
  return true;
}

void watcher::absorb(std::size_t n) noexcept {
  for (; absorbed_ < n; ++absorbed_) told_.acquire_slowly();
}

void watcher::tell() noexcept {
  if (std::ptrdiff_t before; !told_.release_if_quiet(1)) told_.release_slowly(1, before);
}

}  // namespace nopal::core

#include "nopal/core/wait/watch.hpp"

#include "nopal/core/stop/here.hpp"

namespace nopal::inline NOPAL_ABI::core {

bool watcher::wait(time_point deadline, char const* what) {
  if (deadline != time_point::max() || wait_may_end_early()) return wait_until(deadline, what);
  basic_watcher::wait(what);
  return true;
}

}  // namespace nopal::core

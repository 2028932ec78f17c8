#pragma once

// A lock of the library's own, held for a moment. A worker of a simulated machine that holds it is not stopped in that time: every other
// that needs it would wait in the kernel, unseen by the simulation. Next: virtual_time.hpp.

#include <mutex>

#include "nopal/core/base/virtual_time.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// As std::mutex. Its holder neither suspends nor lets others run.
class own_mutex {
 public:
  void lock() noexcept {
    // relaxed: a worker of a simulated machine was started after the machine was counted
    if (simulated_machines.load(std::memory_order_relaxed) != 0) [[unlikely]]
      virtual_time::hold_here();
    mutex_.lock();
  }
  /// In a signal handler, which ends the program or changes nothing.
  bool try_lock() noexcept {
    // relaxed: as above
    if (simulated_machines.load(std::memory_order_relaxed) != 0) [[unlikely]]
      virtual_time::hold_here();
    if (mutex_.try_lock()) return true;
    if (simulated_machines.load(std::memory_order_relaxed) != 0) [[unlikely]]  // relaxed: as above
      virtual_time::let_go_here();
    return false;
  }
  void unlock() noexcept {
    mutex_.unlock();
    if (simulated_machines.load(std::memory_order_relaxed) != 0) [[unlikely]]  // relaxed: as above
      virtual_time::let_go_here();
  }

 private:
  std::mutex mutex_;
};

}  // namespace nopal::core

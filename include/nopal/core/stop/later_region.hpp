#pragma once

// The region of a stolen branch. The branch is serially later than the first half of its fork. If that half throws, the branch is asked to
// stop, since its result will be dropped. Nothing earlier is asked: README.md, "Exceptions". Next: ../stack/native_fork.hpp, where one
// begins.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stop_region;

/// While it lives, the strand that made it runs in a region of its own, inside of the region before, and `join` asks it to stop. In a frame
/// of that strand; it may end on another worker. Without memory there is no such region, and the branch is not asked.
class NOPAL_API later_region {
 public:
  later_region(worker& w, join_word const& join) noexcept;
  later_region(later_region const&) = delete;
  later_region& operator=(later_region const&) = delete;
  ~later_region();

 private:
  stop_region* const mine_;
};

}  // namespace nopal::core

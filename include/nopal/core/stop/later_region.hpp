#pragma once

// What runs in a branch that was stolen is serially later than the first half of its fork. If that throws, the branch is asked to stop: its
// result will be dropped. Nothing else is asked, and above all nothing earlier: README.md, "Exceptions". Next: ../stack/native_fork.hpp,
// where one begins.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/region_id.hpp"

namespace nopal::inline NOPAL_ABI::core {

class stop_region;

/// While it lives, the strand that it was made by runs in a region of its own, inside of the region before, which is asked by `join`. In a
/// frame of that strand; its end may come on another worker. Without memory there is no such region, and the branch is not asked.
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

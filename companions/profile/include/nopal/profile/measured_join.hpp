#pragma once

// Where the paths of children meet their parent's: keeps the longest. It is stored beside the join of the scope, parallel_invoke or task.
// Any number of children's workers at once; the parent takes the result once all have ended, which the join itself orders. Next:
// procedure.hpp.

#include <cstdint>
#include <vector>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/profile/point.hpp"
#include "nopal/profile/what_if.hpp"

namespace nopal::inline NOPAL_ABI::core {

class measured_join {
 public:
  /// A child has ended, at `at`. Of paths of equal length the one of the child that was forked first is kept, on any schedule.
  NOPAL_API void arrive(point&& at, unsigned order) noexcept;
  /// In addition to arrive, if a place is asked of. `known`: the child's length is known.
  void arrive_in_series(child_in_series const& c, bool known) noexcept;
  /// The parent, which is at `mine`, continues after its children. True: its path is now a child's. Resets this object.
  NOPAL_API bool take_into(point& mine) noexcept;
  /// If a place is asked of: moves `mine`, the parent's count, to after its children. False: some length is not known.
  bool take_in_series(std::uint64_t& mine) noexcept;

 private:
  basic_spin_lock<std_sync> lock_;
  bool has_one_ = false;
  unsigned order_ = 0;  // of the child whose path it is
  point latest_;
  bool series_known_ = true;
  std::vector<child_in_series> series_;
};

}  // namespace nopal::core

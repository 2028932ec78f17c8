#include "nopal/profile/measured_join.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "nopal/profile/not_kept.hpp"

namespace nopal::inline NOPAL_ABI::core {

void measured_join::arrive(point&& at, unsigned order) noexcept {
  std::lock_guard const guard{lock_};
  latest_.burdened = std::max(latest_.burdened, at.burdened);
  latest_.if_free = std::max(latest_.if_free, at.if_free);
  if (has_one_ && (at.span < latest_.span || (at.span == latest_.span && order > order_))) return;
  has_one_ = true;
  order_ = order;
  latest_.span = at.span;
  std::swap(latest_.longest, at.longest);
}

bool measured_join::take_into(point& mine) noexcept {
  std::lock_guard const guard{lock_};
  mine.burdened = std::max(mine.burdened, latest_.burdened);
  mine.if_free = std::max(mine.if_free, latest_.if_free);
  bool const longer = has_one_ && latest_.span >= mine.span;  // at equal length the child's, which was forked first
  if (longer) {
    mine.span = latest_.span;
    mine.longest = std::move(latest_.longest);
  }
  has_one_ = false;
  latest_ = {};
  return longer;
}

void measured_join::arrive_in_series(child_in_series const& c, bool known) noexcept {
  std::lock_guard const guard{lock_};
  series_known_ = series_known_ && known;
  try {
    series_.push_back(c);
  } catch (std::bad_alloc const&) {
    out_of_memory();
    series_known_ = false;
  }
}

// A serial child moves all that follows its fork: the later children, and the parent.
bool measured_join::take_in_series(std::uint64_t& mine) noexcept {
  std::lock_guard const guard{lock_};
  std::sort(series_.begin(), series_.end(), [](child_in_series const& a, child_in_series const& b) { return a.order < b.order; });
  std::uint64_t moved = 0, last_end = 0;
  for (child_in_series const& c : series_) {
    last_end = std::max(last_end, c.from + moved + c.length);
    if (c.serial) moved += c.length;
  }
  mine = std::max(mine + moved, last_end);
  series_.clear();
  return std::exchange(series_known_, true);
}

}  // namespace nopal::core

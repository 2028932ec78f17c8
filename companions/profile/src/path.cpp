#include "nopal/profile/path.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <utility>

namespace nopal::inline NOPAL_ABI::core {

struct path::element {
  std::atomic<std::uint32_t> owners;
  site_id site;
  std::uint64_t amount;
  element* before;      // owned; or null
  std::uint32_t count;  // of elements, with this one

  // relaxed: the caller is an owner, so if it reads 1 it is the only one.
  bool has_one_owner() const noexcept { return owners.load(std::memory_order_relaxed) == 1; }
};

static constexpr std::uint32_t longest_list = 512;

// relaxed: the caller owns the element, so it stays.
void path::share(element& e) noexcept { e.owners.fetch_add(1, std::memory_order_relaxed); }

// acq_rel: pairs with itself. The thread that drops the last share sees all that the others have done with the element.
void path::drop(element* e) noexcept {
  while (e != nullptr && e->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    element* const before = e->before;
    delete e;
    e = before;
  }
}

void path::go_on(site_id site, std::uint64_t amount) noexcept {
  if (amount == 0) return;
  if (last_ != nullptr && last_->site == site && last_->has_one_owner()) {
    last_->amount += amount;
    return;
  }
  if (last_ != nullptr && last_->count >= longest_list) shorten();
  std::uint32_t const count = last_ != nullptr ? last_->count + 1 : 1;
  auto* const e = new (std::nothrow) element{{1}, site, amount, last_, count};
  if (e == nullptr) return out_of_memory();
  last_ = e;
}

std::vector<path::part> path::parts() const {
  std::vector<part> all;
  for (element const* e = last_; e != nullptr; e = e->before) {
    auto same = all.begin();
    while (same != all.end() && same->site != e->site) ++same;
    if (same != all.end()) {
      same->amount += e->amount;
    } else {
      all.push_back({e->site, e->amount});
    }
  }
  return all;
}

// Merges all elements of one site. A path of many sites stays long: then its count restarts at 1, so that this is not done each time.
void path::shorten() noexcept {
  try {
    path shorter;
    for (part const p : parts()) {
      auto* const e = new element{{1}, p.site, p.amount, shorter.last_, shorter.last_ != nullptr ? shorter.last_->count + 1 : 1};
      shorter.last_ = e;
    }
    if (shorter.last_ != nullptr && shorter.last_->count > longest_list / 2) shorter.last_->count = 1;
    *this = std::move(shorter);
  } catch (std::bad_alloc const&) {  // it stays as it is until the next try
  }
}

// ---- Joins.

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

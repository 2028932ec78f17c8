#include "nopal/profile/path.hpp"

#include <atomic>
#include <new>

#include "nopal/profile/not_kept.hpp"

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

}  // namespace nopal::core

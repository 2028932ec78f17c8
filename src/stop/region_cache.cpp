#include "nopal/core/stop/region_cache.hpp"

#include <utility>

#include "nopal/core/stack/children.hpp"
#include "nopal/core/stop/stop_region.hpp"

namespace nopal::inline NOPAL_ABI::core {

region_cache::~region_cache() {
  while (first_ != nullptr) free_again(*std::exchange(first_, first_->next_free_));
}
stop_region& region_cache::get(join_word const& join, region_id outer) {
  stop_region& r = get_inside(outer);
  r.asked_by_ = &join;
  return r;
}
stop_region& region_cache::get(children& c, std::uint64_t epoch, region_id outer) {
  stop_region& r = get_inside(outer);
  r.children_of_ = &c;
  r.parents_stack_ = c.owner;
  r.epoch_ = epoch;
  return r;
}
stop_region& region_cache::get_inside(region_id outer) {
  if (first_ == nullptr) {
    first_ = &free_region();
    first_->next_free_ = nullptr;
    ++count_;
  }
  stop_region& r = *std::exchange(first_, first_->next_free_);
  --count_;
  r.outer_ = outer;
  r.asked_by_ = nullptr;
  r.children_of_ = nullptr;
  r.listened_to_ = core::listened_to(outer);
  return r;
}
void region_cache::put(stop_region& r) noexcept {
  r.uses_.store(r.uses_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: see uses
  if (count_ == most) return free_again(r);
  r.next_free_ = first_;
  first_ = &r;
  ++count_;
}

}  // namespace nopal::core

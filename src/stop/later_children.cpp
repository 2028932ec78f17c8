#include "nopal/core/stop/later_children.hpp"

#include <cstdint>
#include <limits>
#include <new>

#include "nopal/core/stack/join_wait.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/stop/stopped.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constexpr std::uint64_t after_all = std::numeric_limits<std::uint64_t>::max();

// Without memory the later children are not asked. Nor if the function has entered another region since it began the last one: that region
// ends first.
void begin(worker& w, children& c, std::uint64_t epoch) noexcept {
  if (c.owner == nullptr) return;  // its children are in a list
  if (w.region != c.later && (c.later != no_region || w.region != c.around)) return;
  c.later = no_region;
  w.region = c.around;
  try {
    c.later = w.region = w.spare_regions.get(c, epoch, region_without_own_scope(c.around, *c.owner)).id();
  } catch (std::bad_alloc const&) {
  }
  w.work.request();  // the next fork polls: may_offer_here
}

void note_first(worker const& w, children& c) noexcept {
  c.around = w.region;
  c.later = no_region;
}

}  // namespace

// The child from under which the parent was stolen may still run in the region of the epoch before. If that was one of later children, it
// is that child's now, which may have given it back already: it is not read here.
void begin_later_children(worker& w, children& c, bool is_first) noexcept {
  if (is_first) note_first(w, c);
  hold_for_lost_child(listened_to(!is_first && w.region == c.later ? c.around : w.region));
  begin(w, c, c.steals());
}

void begin_children_after_failure(worker& w, children& c, bool is_first) noexcept {
  if (is_first) note_first(w, c);
  if (c.later != no_region && w.region == c.later) {
    region_of(c.later).comes_after(after_all);  // what was forked in it before has ended
  } else {
    begin(w, c, after_all);
  }
}

void end_lost_child(worker& w, children const& c) noexcept {
  if (w.region == no_region) return;
  stop_region& r = region_of(w.region);
  region_id const held = r.listened_to();
  if (r.children_of() == &c) w.spare_regions.put(r);
  w.region = held;
  drop_for_lost_child(held);
}

void end_later_children(worker& w, children& c) noexcept {
  if (c.later == no_region) return;
  if (w.region == c.later) {
    w.region = c.around;
    w.work.request();  // as above
  }
  w.spare_regions.put(region_of(c.later));
  c.later = no_region;
}

// The children of an inner scope run in the region of the outer one's later children, and are serially later too. But what they throw must
// not leave the outer scope's function, and hide the exception that was first.
std::exception_ptr earlier_than(std::exception_ptr e) noexcept {
  worker& w = *current();
  if (w.region == no_region || e == nullptr) return e;
  stop_region& r = region_of(w.region);
  if (r.children_of() == nullptr || r.parents_stack() != w.here || !asks_later_children(r) || !is_stopped(e)) return e;
  if (r.listened_to() != no_region ? region_of(r.listened_to()).asks() : w.pool().everything.request.is_made()) return e;
  children& c = *r.children_of();
  if (auto const steals = static_cast<std::int64_t>(c.steals()); steals > 0) wait_at_join(c.join, steals, c.waiting);
  c.state = children::thrown;
  r.comes_after(after_all);
  return c.first.look(c.join);
}

// A child that arrives later may have thrown earlier in serial order, but not the other way round: so once asked, it stays asked.
bool asks_later_children(stop_region const& r) noexcept {
  children& c = *r.children_of();
  bool asks = false;
  c.join.look_if_recorded([&] { asks = c.first.when < r.epoch(); });
  return asks;
}

}  // namespace nopal::core

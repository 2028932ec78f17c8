#include "nopal/core/stop/here.hpp"

#include "nopal/core/stop/later_children.hpp"
#include "nopal/core/stop/stopped.hpp"

namespace nopal::inline NOPAL_ABI::core {

// Only threads that work for no pool use this, on stacks that no other thread ever resumes: so a compiler may keep its address.
static constinit thread_local region_id of_thread = no_region;

region_id region_of_thread() noexcept { return of_thread; }

// By the strand that runs here, or by a thread that works for no pool.
void continue_in_region(region_id r) noexcept {
  worker* const w = current_or_null();
  if (w == nullptr) {
    of_thread = r;
    work_for_none(r != no_region);
    return;
  }
  w->region = r;
  w->work.request();  // the next fork polls: may_offer_here
}

region_id region_handed_over() noexcept {
  worker const* const w = current_or_null();
  return w != nullptr ? region_without_own_scope(w->region, *w->here) : of_thread;
}

bool asked_in_region() noexcept {
  region_id id = region_to_hand_over();  // in the region of later children the scope's function runs, too
  bool is_shielded = false;
  for (; id != no_region; id = region_of(id).outer()) {
    stop_region const& r = region_of(id);
    if (r.children_of() != nullptr) {
      if (asks_later_children(r)) return true;
      continue;
    }
    if (join_word const* const join = r.asked_by(); join != nullptr) {
      if (join->is_asked()) return true;
      continue;
    }
    if (r.asks()) return true;
    is_shielded = r.is_shielded();
    break;
  }
  // A region may have come from another pool, or from a thread off all pools.
  worker const* const w = current_or_null();
  return w != nullptr && w->pool().everything.request.is_made() && !is_shielded;
}

void throw_stopped() { throw stopped{}; }

stop_region* region_of_wait() noexcept {
  if (region_id const r = inherited_region(); r != no_region) return &region_of(r);
  worker const* const w = current_or_null();
  return w != nullptr ? &w->pool().everything : nullptr;
}

void throw_if_wait_was_stopped() {
  if (stop_region const* const r = region_of_wait(); r != nullptr && r->asks()) throw_stopped();
}

bool wait_in_region_may_end_early() noexcept {
  if (inherited_region() != no_region) return true;
  worker const* const w = current_or_null();
  return w != nullptr && w->pool().everything.request.is_made();
}

// A region that is made on a worker outside of all others is inside of its pool.
static region_id around_here() noexcept {
  if (region_id const r = inherited_region(); r != no_region) return r;
  worker const* const w = current_or_null();
  return w != nullptr ? w->pool().everything_region.id() : no_region;
}

static std::uint32_t uses(region_id id) noexcept { return id != no_region ? region_of(id).uses() : 0; }

inside_region::inside_region(std::stop_token t, time_point deadline)
    : before_{region_here()},
      around_{region_to_hand_over()},
      uses_of_before_{uses(before_)},
      mine_{make_region(std::move(t), deadline, around_here())} {
  continue_in_region(mine_.id());
}
inside_region::inside_region(unstoppable)
    : before_{region_here()}, around_{region_to_hand_over()}, uses_of_before_{uses(before_)}, mine_{make_shield(current_priority())} {
  continue_in_region(mine_.id());
}
inside_region::inside_region(priority p, region_id around)
    : before_{region_here()}, around_{region_to_hand_over()}, uses_of_before_{uses(before_)}, mine_{make_region(p, around)} {
  continue_in_region(mine_.id());
}
inside_priority::inside_priority(priority p, pool_state& pool) {
  if (p == current_priority()) return;
  region_id const r = inherited_region();
  in_.emplace(p, r != no_region ? r : pool.everything_region.id());
}
inside_region::~inside_region() { continue_in_region(uses(before_) == uses_of_before_ ? before_ : around_); }

}  // namespace nopal::core

namespace nopal::inline NOPAL_ABI {

priority current_priority() noexcept { return core::priority_in(core::region_here()); }

}  // namespace nopal

#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/later.hpp"
#include "nopal/core/stop/stop_region.hpp"

#include <cstdint>
#include <limits>
#include <new>
#include <utility>

#include "nopal/core/stack/join_wait.hpp"
#include "nopal/core/stack/scope_child.hpp"

namespace nopal::inline NOPAL_ABI {

// ---- The exception.

stopped::~stopped() = default;
char const* stopped::what() const noexcept { return "nopal: stopped, as was requested"; }

bool core::is_stopped(std::exception_ptr const& e) noexcept {
  try {
    std::rethrow_exception(e);
  } catch (stopped const&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace nopal

namespace nopal::inline NOPAL_ABI::core {

// ---- The region in which the caller runs.

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
inside_region::inside_region(asked_by_caller)
    : before_{region_here()}, around_{region_to_hand_over()}, uses_of_before_{uses(before_)}, mine_{make_asked_region(around_here())} {
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

namespace nopal::inline NOPAL_ABI::core {

// ---- A worker's free regions.

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

// ---- Stolen branches.

// A thief begins one each time that it steals a branch, so it takes from its worker's cache.
static stop_region* begin(worker& w, join_word const& join) noexcept {
  try {
    return &w.spare_regions.get(join, w.region);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

later_region::later_region(worker& w, join_word const& join) noexcept : mine_{begin(w, join)} {
  if (mine_ != nullptr) w.region = mine_->id();
}
later_region::~later_region() {
  if (mine_ != nullptr) current()->spare_regions.put(*mine_);
}

// ---- The later children of a scope.

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

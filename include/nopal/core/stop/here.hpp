#pragma once

// The stop region in which the caller runs: on a worker, that of its strand; off a pool, that of the thread. Polls, waits, forks and code
// that gives work away read it here. README.md says what carries it. Next: ../../stop.hpp.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/priority.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The region of a thread that works for no pool.
NOPAL_API NOPAL_COLD region_id region_of_thread() noexcept;

/// The region in which the caller runs, or no_region. It outlives the call that asks; a caller that keeps it longer holds it.
NOPAL_INLINE region_id region_here() noexcept {
  fork_state* const s = state_here();
  return s->works() ? static_cast<worker*>(s)->region : region_of_thread();
}
/// The region that a child or a job inherits for which the caller waits. As region_here, but the caller may be the function of a scope, and
/// these are not its later children.
NOPAL_API NOPAL_COLD region_id region_handed_over() noexcept;
NOPAL_INLINE region_id region_to_hand_over() noexcept { return region_here() == no_region ? no_region : region_handed_over(); }
/// The region that a job, a fiber or a region inherits that begins here: as region_here, but not that of a stolen branch, which ends with
/// its frame.
inline region_id inherited_region() noexcept {
  region_id const r = region_here();
  return r == no_region ? no_region : listened_to(r);
}
/// From now on the caller runs in `r`. What its strand has forked before stays in the region before: the next fork polls, and sees the
/// change.
NOPAL_API void continue_in_region(region_id r) noexcept;

/// True if the caller is asked to stop, in a region or with its whole pool. On a worker outside of all regions a few loads.
NOPAL_API NOPAL_COLD bool asked_in_region() noexcept;
NOPAL_INLINE bool stop_requested_here() noexcept {
  fork_state* const s = state_here();
  if (s->works()) [[likely]] {
    worker const& w = *static_cast<worker*>(s);
    if (w.region == no_region) [[likely]]
      return w.pool().everything.request.is_made();
  }
  return asked_in_region();
}
/// At a poll: throws nopal::stopped if the caller is asked to stop.
inline void throw_if_stopped() {
  if (stop_requested_here()) [[unlikely]]
    throw_stopped();
}

/// True if a wait of the caller without a time limit must listen to a request. False outside of all regions, until the whole pool is asked
/// to stop: so such a wait costs nothing more.
NOPAL_API NOPAL_COLD bool wait_in_region_may_end_early() noexcept;
inline bool wait_may_end_early() noexcept {
  fork_state* const s = state_here();
  if (!s->works()) return region_of_thread() != no_region;
  worker const& w = *static_cast<worker*>(s);
  if (w.region != no_region) [[unlikely]]
    return wait_in_region_may_end_early();
  return w.pool().everything.request.is_made();
}
/// The deadline of the region around a wait, by the clock of the wait.
class region_deadline {
 public:
  explicit region_deadline(stop_region* r) : region_{r}, here_{r != nullptr ? deadline_here(r->deadline()) : time_point::max()} {}
  time_point here() const noexcept { return here_; }
  /// A limit of the wait has passed, at `t`. If it was this one, and the region is outside of the simulated machine on which this thread
  /// works, asks all in that region to stop, since its own clock may not be there yet.
  void passed(time_point t) const noexcept {
    if (t == here_ && region_ != nullptr && here_ != region_->deadline()) region_->request.make();
  }

 private:
  stop_region* const region_;
  time_point const here_;
};

/// The region to whose request a wait of the caller listens, with its deadline; null: none, on a thread that works for no pool.
NOPAL_API stop_region* region_of_wait() noexcept;
/// After a wait that was not woken by what it waited for: throws nopal::stopped if a request that waits listen to has ended it. That
/// excludes requests by an exception of a sibling.
NOPAL_API NOPAL_COLD void throw_if_wait_was_stopped();

/// While it lives, the caller runs in a new region. It may end on another worker, but in the same call: regions nest.
class NOPAL_API inside_region {
 public:
  /// In a region inside of the caller's. Throws std::bad_alloc.
  inside_region(std::stop_token t, time_point deadline);
  /// In a region that no request reaches.
  struct unstoppable {};
  explicit inside_region(unstoppable);
  /// In a region inside of `around`, which is as urgent as `p` says.
  inside_region(priority p, region_id around);
  /// In a region inside of the caller's, from make_asked_region.
  struct asked_by_caller {};
  explicit inside_region(asked_by_caller);
  inside_region(inside_region const&) = delete;
  inside_region& operator=(inside_region const&) = delete;
  ~inside_region();
  stop_region& region() const noexcept { return *mine_; }

 private:
  // The region of a scope's later children ends at that scope's join, which may be inside of this region: then the caller runs in the
  // region around.
  region_id const before_;
  region_id const around_;
  std::uint32_t const uses_of_before_;
  held_region const mine_;
};

/// As inside_region, in a region whose request the caller makes itself, from any thread. That has ended before this does.
class inside_asked_region {
 public:
  inside_asked_region() : in_{inside_region::asked_by_caller{}} {}
  inside_asked_region(inside_asked_region const&) = delete;
  inside_asked_region& operator=(inside_asked_region const&) = delete;
  ~inside_asked_region() { in_.region().no_longer_asked_by_maker(); }
  region_id id() const noexcept { return in_.region().id(); }

 private:
  inside_region in_;
};

/// While it lives, what the caller begins is as urgent as `p` says. Work that is given to `pool` may be asked to stop by that pool. As
/// inside_region; nothing happens if the caller is as urgent.
class NOPAL_API inside_priority {
 public:
  inside_priority(priority p, pool_state& pool);

 private:
  std::optional<inside_region> in_;
};

}  // namespace nopal::core

// The table of stop regions, and how a region begins and ends.

#include "nopal/core/stop/stop_region.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <mutex>

#include "nopal/core/base/own_mutex.hpp"
#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/virtual_time.hpp"

namespace nopal::inline NOPAL_ABI::core {

// The table. Segment k has 64 << k regions, and ids count through the segments from 1 on. Allocated segments stay, since a region that has
// ended is used again; together they are at most twice what was once used at the same time.
class region_table {
 public:
  static stop_region& at(region_id id) noexcept {
    auto const [k, index] = place(id);
    // acquire: pairs with grow. An id comes from its maker, which orders the two; so relaxed would do, and costs the same.
    return segments_[k].load(std::memory_order_acquire)[index];
  }

  static stop_region& get() {
    std::lock_guard const guard{mutex_};
    if (free_ == nullptr) grow();
    stop_region& r = *free_;
    free_ = r.next_free_;
    return r;
  }
  static void put(stop_region& r) noexcept {
    std::lock_guard const guard{mutex_};
    r.next_free_ = free_;
    free_ = &r;
  }

  // The outer region may be asked to stop at any time, and so may the token.
  static region_id make(std::stop_token&& t, time_point deadline, region_id outer) {
    stop_region& r = get();
    r.request.reset();
    r.holders_.store(whole, std::memory_order_relaxed);  // relaxed: no other thread has its id
    r.outer_ = no_region;
    r.is_shielded_ = false;
    r.priority_ = priority::normal;
    r.asked_by_ = nullptr;
    r.children_of_ = nullptr;
    r.listened_to_ = r.self_;
    r.deadline_ = deadline;
    r.maker_asks_.store(false, std::memory_order_relaxed);       // relaxed: as above
    r.depth_.store(1, std::memory_order_relaxed);                // relaxed: as above
    r.most_depth_.store(most_depth, std::memory_order_relaxed);  // relaxed: as above
    if (outer != no_region) {
      stop_region& around = at(outer);
      r.deadline_ = std::min(deadline, deadline_here(around.deadline_));
      r.is_shielded_ = around.is_shielded_;
      r.priority_ = around.priority_;
      enter(r, around);
    }
    if (t.stop_possible()) {
      r.own_token_ = t;
      r.token_.emplace(std::move(t), stop_region::asked_by_token{&r});
    }
    return r.self_;
  }
  static region_id make_asked(region_id outer) {
    region_id const id = make({}, time_point::max(), outer);
    at(id).maker_asks_.store(true, std::memory_order_relaxed);  // relaxed: no other thread has its id
    return id;
  }
  static region_id make(priority p, region_id outer) {
    region_id const id = make({}, time_point::max(), outer);
    at(id).priority_ = p;
    return id;
  }
  static region_id make_shield(priority p) {
    region_id const id = make(p, no_region);
    at(id).is_shielded_ = true;
    return id;
  }
  // A lost child counts so much less that its drop, if it comes before its hold, never seems to be the last.
  static constexpr std::int64_t whole = std::int64_t{1} << 32;
  static constexpr std::int64_t lost_child = 1;

  // relaxed: the caller knows that it is held
  static void hold(stop_region& r, std::int64_t n) noexcept { r.holders_.fetch_add(n, std::memory_order_relaxed); }
  static void drop(stop_region& r, std::int64_t n) noexcept {
    for (stop_region* x = &r; x != nullptr; n = whole) {
      // acq_rel: release, so that the last comes after all that others did in it; acquire, by the last
      if (x->holders_.fetch_sub(n, std::memory_order_acq_rel) != n) return;
      x = end(*x);
    }
  }

  static void lock() noexcept { mutex_.lock(); }
  static void unlock() noexcept { mutex_.unlock(); }
  static void lock_ways_out() noexcept { ways_out_.lock(); }
  static void unlock_ways_out() noexcept { ways_out_.unlock(); }

 private:
  struct where {
    unsigned segment;
    std::size_t index;
  };
  static constexpr std::size_t first_size = 64;
  static where place(region_id id) noexcept {
    std::uint64_t const n = std::uint64_t{id} - 1 + first_size;
    auto const k = static_cast<unsigned>(std::bit_width(n) - std::bit_width(first_size));
    return {k, static_cast<std::size_t>(n - (first_size << k))};
  }

  // ---- The way out of a region, itself and all around it: README.md, "Chains".

  // A way out of fewer regions is never made shorter. One of n regions, when it was, may grow to 2 n.
  static constexpr std::uint32_t most_depth = 8;
  // A region's token is compared with those of so many around it.
  static constexpr int compared = 64;

  // `r` is new and inside of `around`, which the caller holds, and is asked to stop with it.
  static void enter(stop_region& r, stop_region& around) noexcept {
    if (around.request.is_made()) return r.request.make();  // nobody need ask it any more
    stop_region* from = &around;
    // relaxed: these numbers decide only when shorten is called
    if (around.depth_.load(std::memory_order_relaxed) < around.most_depth_.load(std::memory_order_relaxed)) {
      hold(around, whole);
    } else {
      from = &shorten(around);
    }
    r.outer_ = from->self_;
    r.depth_.store(around.depth_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);        // relaxed: as above
    r.most_depth_.store(around.most_depth_.load(std::memory_order_relaxed), std::memory_order_relaxed);  // relaxed: as above
    if (!from->request.add(r, []() noexcept {})) r.request.make();
    // Who asks `around` also asks `from`, but maybe not yet, and the caller may know that `around` is asked.
    if (from != &around && around.request.is_made()) r.request.make();
  }

  // Takes regions that add nothing out of the way out of `r`, which the caller holds. Returns the region in which one inside of `r` may be
  // as well, held once more for that: `r`, or if that adds nothing the one around it.
  static stop_region& shorten(stop_region& r) noexcept {
    std::lock_guard const guard{ways_out_};
    std::uint32_t n = 1;
    for (stop_region* x = &r; x->outer_ != no_region;) {
      stop_region& next = at(x->outer_);
      if (next.outer_ != no_region && adds_nothing(next) && leave(*x, next)) continue;
      ++n;
      x = &next;
    }
    stop_region* x = &r;
    for (std::uint32_t d = n;; x = &at(x->outer_), --d) {  // all of them: so the next one inside of any of these need not walk
      x->depth_.store(d, std::memory_order_relaxed);       // relaxed: see enter
      x->most_depth_.store(std::max(most_depth, 2 * d), std::memory_order_relaxed);  // relaxed: see enter
      if (x->outer_ == no_region) break;
    }
    stop_region& left = r.outer_ != no_region && adds_nothing(r) ? at(r.outer_) : r;
    hold(left, whole);
    return left;
  }
  // Under ways_out_. True: whoever asks `r` to stop from now on asks a region around it as well. It stays true.
  static bool adds_nothing(stop_region const& r) noexcept {
    // acquire: pairs with no_longer_asked_by_maker
    if (r.maker_asks_.load(std::memory_order_acquire)) return false;
    // A wait in it may make its request: region_deadline::passed. relaxed: a simulated machine is counted before its workers begin
    if (r.deadline_ < simulated_times && simulated_machines.load(std::memory_order_relaxed) != 0) return false;
    if (!r.own_token_.stop_possible()) return true;  // it has none, or nobody is left who could request it
    region_id id = r.outer_;
    for (int k = 0; k < compared && id != no_region; ++k) {
      stop_region const& x = at(id);
      if (x.own_token_ == r.own_token_) return true;
      id = x.outer_;
    }
    return false;
  }
  // Under ways_out_. From now on `x` is in the region around `next`, no longer in `next`. False: one of the two is asked, and nothing has
  // changed.
  static bool leave(stop_region& x, stop_region& next) noexcept {
    stop_region& beyond = at(next.outer_);
    if (!next.request.hand_over(x, beyond.request)) return false;
    hold(beyond, whole);
    x.outer_ = beyond.self_;
    drop(next, whole);
    return true;
  }

  // `r` has no holder any more, so nothing runs in it, and nothing listens. Its token and the region around it may be asked at this moment:
  // afterwards neither knows of it. Returns the region around it, which is held for it.
  static stop_region* end(stop_region& r) noexcept {
    r.token_.reset();
    r.own_token_ = std::stop_token{};
    stop_region* const around = r.outer_ != no_region ? &at(r.outer_) : nullptr;
    if (around != nullptr) around->request.remove(r);
    put(r);
    return around;
  }

  // Under the lock: all are in use.
  static void grow() {
    std::size_t const n = first_size << segments_in_use_;
    auto* const more = new stop_region[n];
    for (std::size_t k = n; k-- > 0;) {
      more[k].self_ = static_cast<region_id>(n - first_size + k + 1);
      more[k].next_free_ = free_;
      free_ = &more[k];
    }
    segments_[segments_in_use_++].store(more, std::memory_order_release);  // release: pairs with at
  }

  static inline constinit std::array<std::atomic<stop_region*>, 26> segments_{};
  static inline constinit own_mutex mutex_;
  // Guards outer_ of all regions that are held and around others. Who takes it holds neither mutex_ nor the lock bit of a request. No
  // own_mutex, since its holder waits for lock bits, which may let others run.
  static inline constinit basic_spin_lock<std_sync> ways_out_;
  static inline constinit unsigned segments_in_use_ = 0;
  static inline constinit stop_region* free_ = nullptr;
};

// A thread that destroys the callback at this time waits inside the standard library, unseen by a simulated machine, until this has ended.
void stop_region::asked_by_token::operator()() const noexcept {
  virtual_time::not_interrupted const me{virtual_time::here()};
  region->request.make();
}

stop_region& region_of(region_id id) noexcept { return region_table::at(id); }
region_id make_region(std::stop_token t, time_point deadline, region_id outer) { return region_table::make(std::move(t), deadline, outer); }
region_id make_region(priority p, region_id outer) { return region_table::make(p, outer); }
region_id make_asked_region(region_id outer) { return region_table::make_asked(outer); }
region_id make_shield(priority p) { return region_table::make_shield(p); }
void hold_region(region_id id) noexcept {
  if (id != no_region) region_table::hold(region_table::at(id), region_table::whole);
}
void drop_region(region_id id) noexcept {
  if (id != no_region) region_table::drop(region_table::at(id), region_table::whole);
}
void hold_for_lost_child(region_id id) noexcept {
  if (id != no_region) region_table::hold(region_table::at(id), region_table::lost_child);
}
void drop_for_lost_child(region_id id) noexcept {
  if (id != no_region) region_table::drop(region_table::at(id), region_table::lost_child);
}
stop_region& free_region() { return region_table::get(); }
void free_again(stop_region& r) noexcept { region_table::put(r); }
void hold_regions() noexcept { region_table::lock(); }
void release_regions() noexcept { region_table::unlock(); }
void hold_ways_out() noexcept { region_table::lock_ways_out(); }
void release_ways_out() noexcept { region_table::unlock_ways_out(); }

}  // namespace nopal::core

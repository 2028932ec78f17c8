#pragma once

// The exception that leaves code which was asked to stop. Plain data: here.hpp throws it, ../../stop.hpp shows it.
// Below: a request to stop, and the region that it is made for.

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

#include "nopal/core/base/spin_lock.hpp"
#include "nopal/core/base/sync.hpp"
#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/join_word.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/priority.hpp"

namespace nopal::inline NOPAL_ABI {

/// Thrown by stop_point, and by waits that end early, if the caller was asked to stop.
class NOPAL_API stopped : public std::exception {
 public:
  stopped() noexcept = default;
  stopped(stopped const&) noexcept = default;
  stopped& operator=(stopped const&) noexcept = default;
  ~stopped() override;
  char const* what() const noexcept override;
};

namespace core {
/// Throws nopal::stopped.
[[noreturn]] NOPAL_API NOPAL_COLD void throw_stopped();
/// True if it is a nopal::stopped. What has left a fiber or a job that way was asked for, and is no failure to report.
NOPAL_API NOPAL_COLD bool is_stopped(std::exception_ptr const& e) noexcept;
}  // namespace core

}  // namespace nopal

namespace nopal::inline NOPAL_ABI::core {

// A request to stop: it is made once and stays, and it notifies its listeners. Any thread makes it, listens, and asks whether it was made.
// README.md, "A request", says why no listener waits for ever, and why none is notified after it has left. Two listen: what a request and
// one waiter share, and the stop region, both below.

///     | made 2 | locked 1 |
///
/// Only the holder of the lock bit changes the other one, and uses the list.
template <class Sync = std_sync>
class basic_request {
  template <class T>
  using plain = typename Sync::template plain<T>;

 public:
  /// The request notifies it. It is in the frame of a waiter, or in a region.
  struct listener {
    /// Called once, under the lock bit of the request: it must not block, nor leave or enter any list of this request.
    void (*tell)(listener&) noexcept;
    plain<listener*> before{nullptr};
    plain<listener*> behind{nullptr};
    plain<bool> listed{false};

    explicit listener(void (*f)(listener&) noexcept) noexcept : tell{f} {}
  };
  /// A listener that is told by making its own request. It has no `tell`: make goes down to that request itself, so that its stack does not
  /// grow with the depth.
  struct within : listener {
    basic_request& inner;
    plain<within*> around{nullptr};  // by the thread that has taken it out of its list: from where it came down to it

    explicit within(basic_request& r) noexcept : listener{nullptr}, inner{r} {}
  };

  /// True if the request was made. Once true it stays so. acquire: pairs with make, for what the requester wrote before.
  bool is_made() const noexcept { return (word_.load(std::memory_order_acquire) & made) != 0; }

  /// Enters `l`, and calls also() before it can be notified. False: the request was made, `l` is in no list, and also() was not called.
  template <class Also>
  bool add(listener& l, Also also) noexcept {
    if (lock() != 0) {
      unlock(made);
      return false;
    }
    link(l);
    also();
    unlock(0);
    return true;
  }
  /// From now on `l` is not notified. If its notification or also() is running, this waits for the end of that. `l` need not be listed.
  void remove(listener& l) noexcept {
    std::uint32_t const was = lock();
    if (l.listed) unlink(l);
    unlock(was);
  }
  /// `l`, which listens to this request, listens from now on to `outer`, to which this one listens. False: one of the two was made, and
  /// nothing has changed. The caller knows that `l` entered in time, and does not leave meanwhile.
  bool hand_over(listener& l, basic_request& outer) noexcept {
    std::uint32_t const of_outer = outer.lock();
    std::uint32_t const of_this = lock();
    bool const moves = of_outer == 0 && of_this == 0;
    if (moves) {
      unlink(l);
      outer.link(l);
    }
    unlock(of_this);
    outer.unlock(of_outer);
    return moves;
  }
  /// Makes the request, and notifies all listeners, the newest first; those of a request inside before the next one. Any number of times.
  /// O(listeners). Others may enter and leave between two of them. It needs a stack of fixed size, however deep requests are nested.
  void make() noexcept {
    within* at = nullptr;     // whose request is notifying now; null: this one
    basic_request* r = this;  // that request
    for (;;) {
      // release: pairs with is_made. Before any listener is notified: each finds the request made.
      if (r->lock() == 0) r->word_.store(made | locked, std::memory_order_release);
      listener* const l = r->first_;
      if (l != nullptr) {
        r->unlink(*l);
        if (l->tell == nullptr) {  // the lock bit stays set until those inside were notified: so `l` stays
          auto& in = static_cast<within&>(*l);
          in.around = at;
          at = &in;
          r = &in.inner;
          continue;
        }
        l->tell(*l);  // a waiter that is woken here takes the lock bit before its frame ends
      } else if (at != nullptr) {
        r->unlock(made);
        at = at->around;  // it lives: the lock bit of the request around it is set
        r = at != nullptr ? &at->inner : this;
      } else {
        return r->unlock(made);
      }
      r->unlock(made);
    }
  }
  /// Afterwards no listener is in the list, and the request is not made. By the only thread that knows of it. relaxed: the thread that
  /// hands it on orders that.
  void reset() noexcept { word_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t made = 2;

  std::uint32_t lock() noexcept { return lock_bit<Sync>(word_, locked) & made; }
  // release: pairs with lock_bit, for the list. While the lock is held lock_bit only sets a bit that is set.
  void unlock(std::uint32_t state) noexcept { word_.store(state, std::memory_order_release); }

  void link(listener& l) noexcept {
    listener* const next = first_;
    l.before = nullptr;
    l.behind = next;
    l.listed = true;
    if (next != nullptr) next->before = &l;
    first_ = &l;
  }
  void unlink(listener& l) noexcept {
    listener* const before = l.before;
    listener* const behind = l.behind;
    (before != nullptr ? before->behind : first_) = behind;
    if (behind != nullptr) behind->before = before;
    l.listed = false;
  }

  typename Sync::template atomic<std::uint32_t> word_{0};
  plain<listener*> first_{nullptr};  // under the lock bit
};

// What a request to stop and one waiter share: the part of a wait that ends early which a model checks. Both the request and the waker may
// want to wake the waiter; the one that claims it does. Next: ../wait/timer.hpp, whose entry has one.

/// The lock bit of the request guards it, from start until the waiter takes that bit once more, in end. Once woken, the waiter may also
/// read `told` without it: only the claimer writes it, before the wake-up.
template <class Sync, class Waiter>
struct basic_stop_wait : basic_request<Sync>::listener {
  using request = basic_request<Sync>;

  Waiter& who;
  typename Sync::template plain<bool> told{false};  ///< the request has claimed the waiter

  explicit basic_stop_wait(Waiter& w) noexcept
      : request::listener{[](typename request::listener& l) noexcept { static_cast<basic_stop_wait&>(l).end_wait(); }}, who{w} {}

  /// From now on `r` ends the wait. If it was made before, it ends the wait at once, and also() is not called. By the waiter, whose other
  /// wakers may know it already.
  template <class Also>
  void start(request& r, Also also) noexcept {
    if (!r.add(*this, also)) end_wait();
  }
  /// Before the waiter's frame ends, for whatever reason the wait has ended.
  void end(request& r) noexcept { r.remove(*this); }

 private:
  void end_wait() noexcept {
    if (!who.claim()) return;
    told = true;
    who.wake();
  }
};

// The name of a stop region: all that runs in the region carries it. Below: the region itself; README.md.

/// Four bytes, so that it fits where a resumable has room left. Ids are used again once their region has ended.
using region_id = std::uint32_t;

/// Code outside of all regions: only a request to the whole pool reaches it.
inline constexpr region_id no_region = 0;

// A stop region: what runs inside of one call of with_stop, or as one job that was submitted with a token, and all that this begins. Its
// token, or the region around it, makes its request. Any thread. Next: here.hpp, the region in which the caller runs.

struct children;
class stack;

/// It is in a table, at an address that stays: so its id finds it without a lock. It ends with its last holder: the frame that made it,
/// jobs, fibers, regions inside of it. Forks need not hold it, since they end before the frame that joins them. A region inside may come to
/// be in the next one around, where this one adds nothing: README.md, "Chains".
///
/// A region of a stolen branch is simpler: it lives as long as the frame of the thief that runs the branch, and has no holders. So is that
/// of the later children of a scope. later.hpp.
class NOPAL_API stop_region : private basic_request<>::within {
 public:
  basic_request<> request;

  stop_region() noexcept : within{request} {}
  stop_region(stop_region const&) = delete;
  stop_region& operator=(stop_region const&) = delete;

  region_id id() const noexcept { return self_; }
  /// The innermost region around what runs here that has a token or a deadline, or is a shield; this one, unless it is one of a stolen
  /// branch. Jobs, fibers and inner regions inherit it, and waits listen to it. no_region: there is none.
  region_id listened_to() const noexcept { return listened_to_; }
  /// Of a region of a stolen branch: the join word that asks it, and the region around it. Null for all others.
  join_word const* asked_by() const noexcept { return asked_by_; }
  region_id outer() const noexcept { return outer_; }
  /// Of a region of a scope's later children: the scope, and the stack of its function. Null for all others.
  children* children_of() const noexcept { return children_of_; }
  stack const* parents_stack() const noexcept { return parents_stack_; }
  /// How often it was used as one of a stolen branch or of later children: so code that has known it can tell that it is another now.
  /// relaxed: it changes on the stack of the code that asks, or the region is alive.
  std::uint32_t uses() const noexcept { return uses_.load(std::memory_order_relaxed); }
  /// All children that have thrown and were forked before so many steals of the parent are earlier than those in this region.
  std::uint64_t epoch() const noexcept { return epoch_; }
  /// From now on all children that have thrown are earlier than `epoch`. By the only strand that runs in it.
  void comes_after(std::uint64_t epoch) noexcept { epoch_ = epoch; }

  /// Ends all waits in it that can end early; polls see it. No later than this, by the steady clock.
  time_point deadline() const noexcept { return deadline_; }
  /// True if no pool's request reaches what runs in it: for a shield, which no request reaches, and for regions inside of one.
  bool is_shielded() const noexcept { return is_shielded_; }
  /// How urgent what runs in it is. Only of a region that others listen to: priority_in.
  nopal::priority priority() const noexcept { return priority_; }
  /// True if what runs in it is asked to stop. Reads a clock only if there is a deadline that has not passed.
  bool asks() const noexcept { return request.is_made() || (deadline_ != time_point::max() && now_by(deadline_) >= deadline_); }
  /// From now on the code that made it by make_asked_region makes its request no longer. By that code. release: pairs with adds_nothing,
  /// for a request that it has made.
  void no_longer_asked_by_maker() noexcept { maker_asks_.store(false, std::memory_order_release); }

 private:
  friend class region_table;
  friend class region_cache;
  struct asked_by_token {
    stop_region* region;
    void operator()() const noexcept;
  };

  std::atomic<std::int64_t> holders_{0};  // a `whole` for each holder, 1 for each lost child
  std::atomic<std::uint32_t> uses_{0};
  region_id self_ = no_region;
  region_id outer_ = no_region;
  region_id listened_to_ = no_region;
  join_word const* asked_by_ = nullptr;
  children* children_of_ = nullptr;
  stack const* parents_stack_ = nullptr;
  std::uint64_t epoch_ = 0;
  bool is_shielded_ = false;
  nopal::priority priority_ = nopal::priority::normal;
  time_point deadline_ = time_point::max();
  std::optional<std::stop_callback<asked_by_token>> token_;
  std::stop_token own_token_;  // of token_
  std::atomic<bool> maker_asks_{false};
  std::atomic<std::uint32_t> depth_{1};       // how many regions its way out has, itself among them, or more than that
  std::atomic<std::uint32_t> most_depth_{0};  // before it gets a deeper one inside, its way out is made shorter
  stop_region* next_free_ = nullptr;
};

/// The region of that id, which is not no_region and is held.
NOPAL_API stop_region& region_of(region_id id) noexcept;
/// The region that code hands over which runs in `r` on the stack `here`: the region around, if that code is the function of a scope in
/// whose region of later children it runs.
inline region_id region_without_own_scope(region_id r, stack const& here) noexcept {
  if (r == no_region) return r;
  stop_region const& x = region_of(r);
  return x.children_of() != nullptr && x.parents_stack() == &here ? x.outer() : r;
}
/// The region that waits in that region listen to, or no_region.
inline region_id listened_to(region_id id) noexcept { return id != no_region ? region_of(id).listened_to() : no_region; }
/// A region inside of `outer`, which may be no_region, and is none of a stolen branch. Nothing runs in it yet, and the caller holds it. `t`
/// and `outer` ask it to stop, and so does the earlier of `deadline` and that of `outer` when it passes. Throws std::bad_alloc.
NOPAL_API region_id make_region(std::stop_token t, time_point deadline, region_id outer);
/// As above, and what runs in it is as urgent as `p` says; otherwise it is as urgent as in `outer`.
NOPAL_API region_id make_region(priority p, region_id outer);
/// As above, without a token, and the caller may make its request at any time, until it calls no_longer_asked_by_maker.
NOPAL_API region_id make_asked_region(region_id outer);
/// A region in which nothing is asked to stop, as urgent as `p` says. Throws as make_region.
NOPAL_API region_id make_shield(priority p);
/// How urgent what runs in a region is.
inline priority priority_in(region_id id) noexcept {
  region_id const r = listened_to(id);
  return r != no_region ? region_of(r).priority() : priority::normal;
}
/// Holds a region that the caller knows to be held.
NOPAL_API NOPAL_COLD void hold_region(region_id id) noexcept;
/// Holds it no longer. Afterwards it may be another one. May wait for a request that is being made.
NOPAL_API NOPAL_COLD void drop_region(region_id id) noexcept;

/// As the two above, for a child of a scope that has lost its parent. The scope's function may join that child after the region of both has
/// ended: the parent's thief holds the region, which is that of its function now, and the child drops it. These may come in any order.
void hold_for_lost_child(region_id id) noexcept;
void drop_for_lost_child(region_id id) noexcept;

/// Holds a region while it lives.
class held_region {
 public:
  /// Takes over the region that make_region returned.
  explicit held_region(region_id made) noexcept : id_{made} {}
  held_region(held_region const&) = delete;
  held_region& operator=(held_region const&) = delete;
  ~held_region() { drop_region(id_); }
  region_id id() const noexcept { return id_; }
  stop_region& operator*() const noexcept { return region_of(id_); }

 private:
  region_id const id_;
};

/// For region_cache: a region in which nothing runs, and that no other thread knows. Throws std::bad_alloc.
stop_region& free_region();
/// Gives it back.
void free_again(stop_region& r) noexcept;

// ---- Around a fork of the process, by the thread that forks: the table is locked in between.

void hold_regions() noexcept;
void release_regions() noexcept;
/// As these, of the lock that guards the ways out of regions. Its holder may wait for one who wakes strands, also those of simulated machines: so
/// it is taken before the locks that these take.
void hold_ways_out() noexcept;
void release_ways_out() noexcept;

// A worker's free regions for stolen branches and for later children. Next: later.hpp, which takes from it; src/stop/stop_region.cpp, the
// table behind it.

/// By the worker only. A region may be put into another worker's cache than it was taken from.
class NOPAL_API region_cache {
 public:
  region_cache() noexcept = default;
  region_cache(region_cache const&) = delete;
  region_cache& operator=(region_cache const&) = delete;
  ~region_cache();

  /// A region inside of `outer` that `join` asks. Throws std::bad_alloc.
  stop_region& get(join_word const& join, region_id outer);
  /// A region inside of `outer` that is asked to stop by the children of `c` forked before so many steals of its parent. Throws
  /// std::bad_alloc.
  stop_region& get(children& c, std::uint64_t epoch, region_id outer);
  /// `r` is free: nothing runs in it any more.
  void put(stop_region& r) noexcept;

 private:
  stop_region& get_inside(region_id outer);

  static constexpr unsigned most = 64;  // the others go back to the table

  stop_region* first_ = nullptr;
  unsigned count_ = 0;
};

}  // namespace nopal::core

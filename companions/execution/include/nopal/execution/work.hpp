#pragma once

// Work that a pool runs where it is: a part of an operation state, in a worker's ring or an inbox. It is a fiber without a closure: it runs
// at the base of a native stack, and counts as one. Next: scheduler.hpp, whose operations are such; core/scheduler/fiber_record.hpp, the
// fiber of nopal::spawn.

#include "nopal/core/compiler/config.hpp"

#include <atomic>
#include <memory>
#include <new>
#include <stdexec/execution.hpp>
#include <stop_token>
#include <utility>

#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/pool_state.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stop_region.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI::core::senders {

class work;

/// A receiver's environment that answers this, with a place, gets the work there instead of its pool: the code that has called start runs it,
/// at once, on that pool. Only what wait_here (scheduler.hpp) waits for: it is sure that the start gives no more than one.
struct first_work_t {
  static constexpr bool query(stdexec::forwarding_query_t) noexcept { return true; }
};

/// A pool runs it once. It may be destroyed as soon as its body has been called, by the body itself, too.
class work : public resumable {
 public:
  work(work const&) = delete;
  work& operator=(work const&) = delete;

  /// As give, or to whom the environment says: first_work_t.
  template <class Env>
  void give_for(Env const& env, pool_state& pool) noexcept {
    if constexpr (requires { env.query(first_work_t{}); }) {
      if (work** const place = env.query(first_work_t{}); place != nullptr) {
        *place = this;
        return;
      }
    }
    give(pool);
  }
  /// Runs it, on a worker of its pool, in the region and the mode of what gave it, at the base of a strand.
  void run_here() noexcept { body_(*this); }

  /// Gives it to `pool`. It may have run, and may be gone, when this returns. Any thread. It runs in the caller's stop region and mode.
  void give(pool_state& pool) noexcept {
    runs_in.region = inherited_region();
    if (runs_in.region != no_region) [[unlikely]]
      hold_region(runs_in.region);
    words_.store();
    worker* const w = current_or_null();
    if (w == nullptr || &w->pool() != &pool) {
      // The work may be the last that the pool has to run, and the pool's destructor would not wait for this thread, which still uses it.
      pool.pending.started();
      spawn_from_outside(pool, *this);
      return pool.pending.finished();
    }
    try {
      w->make_room_for_ready();
    } catch (std::bad_alloc const&) {
      return spawn_from_outside(pool, *this);  // an inbox needs no memory
    }
    w->count.add(counted::fibers_spawned);  // before the work can finish: see wait_for_all
    if (given_by_priority(pool, *this, runs_in.region, w->index())) [[unlikely]]
      return;
    w->make_ready(*this);
  }

 protected:
  using body = void (*)(work&) noexcept;

  explicit work(body b) noexcept : resumable{begin}, body_{b} {}
  ~work() = default;

 private:
  /// resumable::run. The body may suspend, so another worker may end the work than began it.
  static void begin(resumable& r, worker& w) noexcept {
    auto& self = static_cast<work&>(r);
    self.words_.adopt();
    w.begin_job();
    region_id const region = w.region = self.runs_in.region;
    held_mutexes const mutexes{*w.here};
    fiber_values values;
    w.values = &values;
    self.body_(self);
    values.end();
    worker& now = *current();
    mutexes.check(*now.here, "an operation of std::execution");
    if (region != no_region) [[unlikely]]
      drop_region(region);
    now.end_job();
    current()->count.add(counted::fibers_finished, std::memory_order_release);  // release: pairs with wait_for_all
  }

  body const body_;
  stored_control_words words_;
};

// A receiver's stop token asks a stop region of nopal: while one of these lives, the caller runs in a region that the token asks, so that
// nopal::stop_requested, loops and waits see the request. Used by bulk.hpp and tasks.hpp.
// Next: core/stop/here.hpp, inside_asked_region.

/// The token of a receiver.
template <class Receiver>
using token_of = stdexec::stop_token_of_t<stdexec::env_of_t<Receiver>>;

/// A token's callback. Any thread; it blocks on nothing but a waiter that enters or leaves at this moment.
struct ask_region {
  region_id region;
  void operator()() const noexcept { region_of(region).request.make(); }
};

/// In the frame of the code that is to be asked, which runs in it until it is destroyed. Throws std::bad_alloc.
template <class Token>
class asked_by {
 public:
  explicit asked_by(Token t) : asks_{t.stop_possible()} {
    if (asks_) std::construct_at(&in_, std::move(t));
  }
  asked_by(asked_by const&) = delete;
  asked_by& operator=(asked_by const&) = delete;
  ~asked_by() {
    if (asks_) std::destroy_at(&in_);
  }

 private:
  struct region_with_token {
    inside_asked_region region;
    stdexec::stop_callback_for_t<Token, ask_region> token;  // leaves before the region ends

    explicit region_with_token(Token t) : token{std::move(t), ask_region{region.id()}} {}
  };
  bool const asks_;
  union {  // no std::optional: GCC 12 warns of that, in the program of whoever includes this
    region_with_token in_;
  };
};

/// Nobody asks.
template <stdexec::unstoppable_token Token>
class asked_by<Token> {
 public:
  explicit asked_by(Token const&) noexcept {}
};

}  // namespace nopal::core::senders

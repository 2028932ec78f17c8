#pragma once

// A fiber before it starts: its closure, in a small block of memory, in the ring of the worker that spawned it, or in an inbox. Once
// started, a fiber is what runs on a native stack, and has no object of its own. Next: blocks.hpp, the memory; search.hpp, which starts it;
// submission.hpp, where a fiber is spawned from outside the pool.

#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/scheduler/blocks.hpp"
#include "nopal/core/scheduler/fiber_values.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/task/arguments.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// A fiber that has not started. Counter: nopal::counter, which counts down when the fiber has ended.
template <class F, class Counter>
struct fiber_record final : resumable {
  Counter* done;
  stored_control_words words;  ///< the spawner's, stored last of all: the fiber runs in that mode
  F f;

  template <class G>
  fiber_record(Counter* c, G&& closure) : resumable{start}, done{c}, f(static_cast<G&&>(closure)) {}

  /// resumable::run: runs the fiber to its end, at the base of a native stack. The closure may suspend, so another worker may end the fiber
  /// than started it.
  static void start(resumable& r, worker& w) noexcept {
    auto* const self = static_cast<fiber_record*>(&r);
    self->words.adopt();
    w.begin_job();
    region_id const region = w.region = self->runs_in.region;
    held_mutexes const mutexes{*w.here};
    fiber_values values;
    w.values = &values;
    std::exception_ptr error;
    try {
      static_cast<void>(static_cast<called_once<F>>(self->f)());
    } catch (...) {
      error = caught();
    }
    Counter* const c = self->done;
    self->~fiber_record();
    current()->blocks.put(self, sizeof(fiber_record));  // first: in the child of a fork this is the trap, and there is no stack
    values.end();
    worker& now = *current();
    mutexes.check(*now.here, "a fiber");
    if (region != no_region) [[unlikely]]
      drop_region(region);
    now.end_job();
    Counter::fiber_ended(c, std::move(error));
    current()->count.add(counted::fibers_finished, std::memory_order_release);  // release: pairs with wait_for_all
  }
};

/// Spawns a fiber that is known to be well-formed. `to`: the pool; null: the caller's pool, or otherwise() if the caller works for none.
/// Throws std::bad_alloc, and what copying the closure throws; nothing has happened then.
template <class closure, class Counter, class F>
NOPAL_INLINE void spawn_checked(pool_state* to, pool_state& (*otherwise)(), Counter* c, F&& f) {
  using record = fiber_record<closure, Counter>;
  struct unspawned {  // owns the record until nothing can fail any more
    void* at;
    record* made = nullptr;
    ~unspawned() {
      if (at == nullptr) [[likely]]
        return;  // operator delete would test it too, but behind a call
      if (made != nullptr) std::destroy_at(made);
      ::operator delete(at);
    }
    resumable& release() noexcept {
      made->runs_in.region = inherited_region();
      if (made->runs_in.region != no_region) [[unlikely]]
        hold_region(made->runs_in.region);
      made->words.store();
      at = nullptr;
      return *std::exchange(made, nullptr);
    }
  };
  worker* w = current_or_null();
  if (to != nullptr && w != nullptr && &w->pool() != to) w = nullptr;
  unspawned r{w != nullptr ? w->blocks.get(sizeof(record)) : ::operator new(central_block_list::rounded(sizeof(record)))};
  r.made = ::new (r.at) record{c, static_cast<F&&>(f)};
  if (w != nullptr) [[likely]] {
    worker* const now = current();  // copying the closure may have suspended this stack
    now->make_room_for_ready();
    now->count.add(counted::fibers_spawned);  // before the fiber can finish: see wait_for_all
    resumable& fiber = r.release();
    if (given_by_priority(now->pool(), fiber, fiber.runs_in.region, now->index())) [[unlikely]]
      return;
    now->make_ready(fiber);
  } else {
    pool_state& on = to != nullptr ? *to : otherwise();  // first: it may throw
    spawn_from_outside(on, r.release());
  }
}
/// True if a fiber can be made of an F. If not, says what to write instead.
template <class F>
consteval bool may_be_fiber() {
  using closure = std::decay_t<F>;
  using called = called_once<closure>;
  constexpr bool callable = std::is_invocable_v<called>;
  static_assert(callable, "nopal: spawn takes something to be called without arguments. Write spawn([=] { f(a, b); }) for f(a, b).");
  constexpr bool ordinary = !returns_task<called>;
  static_assert(ordinary,
                "nopal: a fiber is an ordinary function. Write spawn([=] { nopal::sync_wait(f, a); }) for a coroutine function f.");
  constexpr bool kept = std::is_constructible_v<closure, F&&>;
  static_assert(kept, "nopal: spawn keeps its closure by value, and this one cannot be copied. Write spawn(std::move(f)).");
  constexpr bool aligned = alignof(closure) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  static_assert(aligned, "nopal: a fiber's closure is aligned to at most 16 bytes. Capture a pointer to what needs more.");
  return callable && ordinary && kept && aligned;  // if not, the message above is the only one
}
/// Checks that a fiber can be made of `f`, and spawns it. Throws as spawn_checked.
template <class Counter, class F>
NOPAL_INLINE void spawn(pool_state* to, pool_state& (*otherwise)(), Counter* c, F&& f) {
  if constexpr (core::may_be_fiber<F>()) spawn_checked<std::decay_t<F>>(to, otherwise, c, static_cast<F&&>(f));
}
/// Spawns a fiber that `c` counts: up now, down when the fiber has ended. Throws as spawn_checked; `c` is as before then.
template <class Counter, class F>
NOPAL_INLINE void spawn_counted(pool_state* to, pool_state& (*otherwise)(), Counter& c, F&& f) {
  c.add();
  try {
    spawn(to, otherwise, &c, static_cast<F&&>(f));
  } catch (...) {
    c.done();
    throw;
  }
}

}  // namespace nopal::core

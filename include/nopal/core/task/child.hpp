#pragma once

// A child about to start, and the fork itself. The suspended parent is offered to thieves; then the child is *called*, as a nested native
// call (eager nested start). So an unstolen child returns like a function, and its native caller takes the parent back. Called by the
// worker that runs the parent; from the offer on a thief may run that parent. docs/fork-cost.md says what a fork costs. Next:
// deque/fork_protocol.hpp, which offers the parent; slow_path.hpp, where it was stolen.

#include <coroutine>
#include <cstdint>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/fork_protocol.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/native_fork.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/task/awaiters.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/task/pack.hpp"
#include "nopal/core/task/result_slot.hpp"
#include "nopal/core/task/slow_path.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// One child about to start: what fork and call return. F: what to dereference and invoke; P: the types of its stored arguments. By-value
/// arguments are stored here until the child copies them; references refer to the caller's objects.
template <kind How, std::uintptr_t Bits, class F, class... P>
class child_awaitable : public awaitable_tag {
 public:
  using arguments = pack<P...>;
  using result = std::invoke_result_t<decltype(*std::declval<F&>()), P...>;
  static constexpr bool has_result = !std::is_void_v<typename result::value_type>;

  template <class... A>
  NOPAL_INLINE explicit child_awaitable(void* slot, F f, A&&... a)
      : slot_{slot}, f_{f}, args_{core::make_pack<P...>(static_cast<A&&>(a)...)} {}

  // A fork: the parent must be suspended, so that a thief can resume it, before the child starts.
  NOPAL_INLINE bool await_ready() const noexcept { return false; }
  template <class Promise>
  NOPAL_SUSPENDS bool await_suspend(std::coroutine_handle<Promise> h) {
    return launch(static_cast<frame*>(h.address()));
  }
  NOPAL_INLINE bool launch(frame* p) {
    worker* const w = current();
    if (w->work.must_poll()) [[unlikely]]
      return fork_and_poll(p, slot_, f_, static_cast<passed&&>(args_));
    return fork<false>(p, w, slot_, f_, args_);
  }
  NOPAL_INLINE void await_resume() const noexcept {}

  NOPAL_INLINE F& function() noexcept { return f_; }

  // A call: no thief can take the parent, so the child runs at once, and the parent suspends only if it must.
  NOPAL_INLINE void start(frame* p) { start(p, slot_); }
  NOPAL_INLINE void start(frame* p, void* slot) {
    worker* const w = current();
    if (w->work.must_poll()) [[unlikely]] {
      if constexpr ((Bits & refers_to_awaitable) != 0) {
        begin<true>(p, w, slot, f_, args_);
      } else {
        call_and_poll(p, slot, f_, std::move(args_));
      }
    } else if constexpr ((Bits & refers_to_awaitable) != 0 || !std::is_trivially_copyable_v<arguments>) {
      begin<false>(p, w, slot, f_, args_);
    } else {
      arguments args = args_.hand_over();
      begin<false>(p, w, slot, f_, args);
    }
  }

 private:
  template <bool Polls>
  NOPAL_INLINE static bool fork(frame* const p, worker* before, void* const slot, F const f, arguments& stored) {
    // All reads of the parent's frame come before the offer: from then on a thief may run the parent.
    arguments args = stored.hand_over();
    p->state |= frame::open;
    make_offer(*before, continuation{p});
    if (begin<Polls>(p, before, slot, f, args)) return true;
    worker* const w = current();
    if (take_back(*w)) [[likely]]
      return false;
    return forked_returned(*w, p);
  }

  // Starts the child. True: its start is deferred, and everything unwinds to the loop at the stack's base. `Polls`: a thief has requested
  // work, or the native stack is low. start_threw keeps what the start throws for the parent.
  template <bool Polls>
  NOPAL_INLINE static bool begin(frame* p, worker* w, void* slot, F f, arguments& args) {
    try {
      if constexpr (Polls) {
        if (worker::poll()) return defer(p, slot, f, args);
        w = current();
      }
      w->parent_word = reinterpret_cast<std::uintptr_t>(p) + How + (Bits & parent_bits);  // frames are aligned: the low bits are free
      if constexpr ((Bits & engages) != 0) {
        w->slot = engaged_slot<typename result::value_type>(slot);
      } else if constexpr (has_result) {
        w->slot = slot;
      }
      args.apply([&](auto&... a) { (void)std::invoke(*f, static_cast<P&&>(a)...); });
    } catch (...) {
      if constexpr ((Bits & engages) != 0) disengage<typename result::value_type>(slot);
      start_threw(*current());
    }
    return false;
  }

  /// How the slow paths take the arguments: by value if that costs nothing, so that the child_awaitable itself needs no memory.
  using passed = std::conditional_t<std::is_trivially_copyable_v<arguments>, arguments, arguments&>;
  NOPAL_COLD static bool fork_and_poll(frame* p, void* slot, F f, passed args) {
    prepare_to_offer(*current());
    bool const suspends = fork<true>(p, current(), slot, f, args);
    polled_fork_ended();
    return suspends;
  }
  NOPAL_COLD static void call_and_poll(frame* p, void* slot, F f, arguments args) {
    begin<true>(p, current(), slot, f, args);
    polled_fork_ended();
  }
  /// The native stack is low: stores the arguments in the arena, until the loop at the stack's base starts the child. Nothing has started
  /// yet, and the parent may be in the deque. Always returns true. Throws std::bad_alloc, or what moving an argument throws.
  NOPAL_COLD static bool defer(frame* p, void* slot, F f, arguments& args) {
    // The objects of the child's references stay where they are, in the suspended parent's frame.
    using stored = std::conditional_t<(Bits & refers_to_awaitable) != 0, arguments&, arguments>;
    struct deferred : deferred_start {
      void* slot;
      F f;
      stored args;
      deferred(frame* p, void* s, F function, arguments& a)
          : deferred_start{&deferred::begin_deferred, p, How}, slot{s}, f{function}, args{static_cast<stored&&>(a)} {}
      static void begin_deferred(deferred_start* d) {
        auto* const self = static_cast<deferred*>(d);
        void* const to = self->slot;
        F const function = self->f;
        frame* const waiting = self->parent;
        try {
          stored args = static_cast<stored&&>(self->args);
          self->free();
          begin<false>(waiting, current(), to, function, args);
        } catch (...) {  // from moving an argument: begin handles its own exceptions
          self->free();
          if constexpr ((Bits & engages) != 0) disengage<typename result::value_type>(to);
          start_threw(*current());
        }
      }
      void free() noexcept {
        this->~deferred();
        current()->arena.release(this);
        current()->arena.tidy();
      }
    };
    static_assert(alignof(deferred) <= arena::alignment, "nopal: arguments of a task may be aligned to at most 16 bytes");
    prepare_to_defer(*current());
    void* const at = allocate_in_body(*current(), arena::rounded(sizeof(deferred)), *p);
    deferred* d;
    try {
      d = ::new (at) deferred{p, slot, f, args};
    } catch (...) {
      current()->arena.release(at);
      current()->arena.tidy();
      throw;
    }
    defer_start(*current(), d);
    return true;
  }

  // A task<void> has no result: then no slot is stored or handed over.
  struct without_slot {
    NOPAL_INLINE constexpr without_slot(void*) noexcept {}
    NOPAL_INLINE constexpr operator void*() const noexcept { return nullptr; }
  };
  [[no_unique_address]] std::conditional_t<has_result, void*, without_slot> slot_;
  F f_;
  [[no_unique_address]] arguments args_;
};

}  // namespace nopal::core

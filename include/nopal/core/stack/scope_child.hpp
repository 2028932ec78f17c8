#pragma once

// A child of a scope with its closure: it takes that out of the parent's frame, offers the parent, and runs it. Next on the path:
// deque/fork_protocol.hpp; scope_fork.hpp, where the parent was stolen; outside_children.hpp, for scopes off a pool.

#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/deque/continuation.hpp"
#include "nopal/core/deque/fork_protocol.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/children.hpp"
#include "nopal/core/stack/outside_children.hpp"
#include "nopal/core/stack/scope_fork.hpp"
#include "nopal/core/task/arguments.hpp"
#include "nopal/core/wait/event.hpp"

namespace nopal::core {

/// A child's closure, which lies in the fork's full expression until it is moved to the child's stack. F: what is kept of it; Given: the
/// type with which it was given, a reference.
template <class F, class Given>
struct child_of : child {
  std::remove_reference_t<Given>* closure;

  child_of(children& c, std::remove_reference_t<Given>& f) noexcept : child{&c}, closure{std::addressof(f)} {}

  static void run_fast(void* self) { run<true>(*static_cast<child_of*>(self), true); }
  static void run_slowly(child& self, bool offers) { run<false>(static_cast<child_of&>(self), offers); }

 private:
  template <bool Fast>
  NOPAL_INLINE static void run(child_of& self, bool offers) {
    children& of = *self.of;
    std::uint64_t const epoch = of.steals();
    bool offered = false;
    bool threw = false;
    try {
      F f(static_cast<Given>(*self.closure));
      if (Fast || offers) {
        make_offer(*current(), continuation{*of.owner});  // from here on the parent may be resumed elsewhere, and `self` is gone
        offered = true;
        if constexpr (!Fast) static_cast<void>(current()->poll());  // answers whoever has requested work
      }
      static_cast<void>(static_cast<called_once<F>>(f)());
    } catch (...) {
      child_threw(of, epoch);
      threw = true;
    }
    if (offered && !take_back(*current())) [[unlikely]] parent_lost(of);
    if (threw) child_had_thrown(of);
  }
};

/// A child that was forked off a pool, with its closure.
template <class F>
struct outside_child_of final : outside_child {
  F f;

  template <class Given>
  outside_child_of(children& c, Given&& closure) : outside_child{c, run_and_free}, f(static_cast<Given&&>(closure)) {}

  static void run_and_free(outside_child& c) noexcept {
    children& of = c.of;
    auto& self = static_cast<outside_child_of&>(c);
    try {
      static_cast<void>(static_cast<called_once<F>>(self.f)());
    } catch (...) {
      child_threw(of, self.epoch);
    }
    delete &self;
    if (of.join.arrive()) of.done->set();
  }
};

}  // namespace nopal::core

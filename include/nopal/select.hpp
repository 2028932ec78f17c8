#pragma once

// select: waits for the first of several things that may happen to channels and futures, and does that one. Next: core/wait/completion.hpp,
// how.

#include "nopal/core/compiler/config.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nopal/channel.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/completion.hpp"
#include "nopal/core/wait/deadline.hpp"
#include "nopal/future.hpp"
#include "nopal/shared_future.hpp"

namespace nopal::inline NOPAL_ABI {

namespace core {

using channel_node = queued_waiter<timed_stack_waits>;
using channel_watch = watch<channel_node>;

// A case's functions, in the order in which select calls them. happens(): does it now, if it can. enter(w): watches for it; false: it can
// happen now. leave(): withdraws the watch; false: it was woken. act(): it has happened.

template <class T>
struct channel_selection {
  using channel = nopal::channel<T>;
  static bool pops(channel& c, std::optional<T>& value) {
    std::lock_guard const guard{c.mutex_};
    if (!can_happen(c, true)) return false;
    c.take_if_any(value);
    return true;
  }
  template <class V>
  static bool pushes(channel& c, V&& value, bool& taken) {
    std::lock_guard const guard{c.mutex_};
    if (!can_happen(c, false)) return false;
    taken = !c.closed_;
    if (taken) c.put(std::forward<V>(value));
    return true;
  }
  static bool enter(channel& c, channel_node& w, bool pops) {
    std::lock_guard const guard{c.mutex_};
    if (can_happen(c, pops)) return false;
    ++c.waiting_;
    (pops ? c.not_empty_ : c.not_full_).watch(w);
    return true;
  }
  // If the watch was notified and something else may happen, the next waiter is notified in its place.
  static bool leave(channel& c, channel_node& w, bool pops) {
    std::lock_guard const guard{c.mutex_};
    --c.waiting_;
    condition_variable& changed = pops ? c.not_empty_ : c.not_full_;
    bool const withdrawn = changed.unwatch(w);
    if (!withdrawn && can_happen(c, pops)) changed.notify_one();
    return withdrawn;
  }

 private:
  static bool can_happen(channel const& c, bool pops) noexcept { return c.closed_ || (pops ? c.size_ != 0 : c.size_ != c.capacity_); }
};

template <class T, class F>
struct pop_case {
  channel<T>* from;
  F f;
  std::optional<T> value = {};
  channel_watch w = {};

  pop_case(channel<T>& c, F g) : from{std::addressof(c)}, f{std::move(g)} {}
  pop_case(pop_case&& o) : from{o.from}, f{std::move(o.f)} {}  // before anything has happened
  bool happens() { return channel_selection<T>::pops(*from, value); }
  bool enter(watcher& me) { return channel_selection<T>::enter(*from, w.begin(me), true); }
  bool leave() { return channel_selection<T>::leave(*from, w, true); }
  void act() { static_cast<void>(std::invoke(f, std::move(value))); }
};

template <class T, class V, class F>
struct push_case {
  channel<T>* to;
  V value;  // a reference
  F f;
  bool taken = false;
  channel_watch w = {};

  push_case(channel<T>& c, V v, F g) : to{std::addressof(c)}, value{static_cast<V>(v)}, f{std::move(g)} {}
  push_case(push_case&& o) : to{o.to}, value{static_cast<V>(o.value)}, f{std::move(o.f)} {}
  bool happens() { return channel_selection<T>::pushes(*to, static_cast<V>(value), taken); }
  bool enter(watcher& me) { return channel_selection<T>::enter(*to, w.begin(me), false); }
  bool leave() { return channel_selection<T>::leave(*to, w, false); }
  void act() { static_cast<void>(std::invoke(f, taken)); }
};

template <class Future, class F>
struct ready_case {
  Future* of;
  F f;
  completion* done = nullptr;
  watch<completion::watched> w = {};

  ready_case(Future& x, F g) : of{std::addressof(x)}, f{std::move(g)} {}
  ready_case(ready_case&& o) : of{o.of}, f{std::move(o.f)} {}
  bool happens() {
    done = &future_access::of(*of, "select");
    in_order();
    return done->is_set();
  }
  bool enter(watcher& me) { return done->watch(w.begin(me)); }
  bool leave() { return done->unwatch(w); }
  void act() { static_cast<void>(std::invoke(f, *of)); }
};

template <class F>
struct timeout_case {
  time_point deadline;
  F f;
  bool happens() const { return now_by(deadline) >= deadline; }
  bool enter(watcher&) const noexcept { return true; }
  bool leave() const noexcept { return true; }
  void act() { static_cast<void>(std::invoke(f)); }
};

template <class C>
time_point deadline_of(C const&) noexcept {
  return time_point::max();
}
template <class F>
time_point deadline_of(timeout_case<F> const& c) noexcept {
  return c.deadline;
}

struct nothing_more {
  template <class... A>
  void operator()(A&&...) const noexcept {}
};

}  // namespace core

/// For select: a value is popped, or the channel is closed; then f(std::optional<T>) is called, as with what pop returns.
template <class T, class F>
auto on_pop(channel<T>& c, F f) {
  return core::pop_case<T, F>{c, std::move(f)};
}
/// For select: `value` is pushed, or the channel is closed; then f(bool) is called, with what push returns. The value is moved from only if
/// it was pushed; it may be a temporary of the same expression.
template <class T, class F = core::nothing_more>
auto on_push(channel<T>& c, std::type_identity_t<T>&& value, F f = {}) {
  return core::push_case<T, T&&, F>{c, std::move(value), std::move(f)};
}
template <class T, class F = core::nothing_more>
auto on_push(channel<T>& c, std::type_identity_t<T> const& value, F f = {}) {
  return core::push_case<T, T const&, F>{c, value, std::move(f)};
}
/// For select: the future is ready; then f(future&) is called. f may be a member: &future<int>::get.
template <class R, class F = core::nothing_more>
auto on_ready(future<R>& x, F f = {}) {
  return core::ready_case<future<R>, F>{x, std::move(f)};
}
/// As above, for a shared_future.
template <class R, class F = core::nothing_more>
auto on_ready(shared_future<R>& x, F f = {}) {
  return core::ready_case<shared_future<R>, F>{x, std::move(f)};
}
/// For select: nothing else has happened for `d` from now on; then f() is called. With 0 it is chosen if nothing else can happen at once.
template <class Rep, class Period, class F = core::nothing_more>
auto on_timeout(std::chrono::duration<Rep, Period> d, F f = {}) {
  return core::timeout_case<F>{core::deadline_after(d), std::move(f)};
}

/// Waits until one of the cases can happen, lets only that one happen, calls its function, and returns its index. If several can, the first
/// of them: so order them by importance, and write a timeout last. O(cases), and a mutex for each channel.
///
/// Suspends: the fiber, task or function leaves its native stack, and the worker runs others; a thread that works for no pool sleeps.
/// Throws what a pop, a push or a function throws; nopal::stopped if the caller is asked to stop (stop.hpp), std::bad_alloc or
/// std::system_error if time limits get no memory or no thread, std::logic_error for an empty future: then nothing has happened.
///
///     nopal::select(nopal::on_pop(orders, [&](std::optional<order> o) { cook(o); }),
///                   nopal::on_ready(closing_time, [&](auto&) { open = false; }),
///                   nopal::on_timeout(1s, [&] { sweep(); }));
template <class... Case>
  requires(sizeof...(Case) != 0)
std::size_t select(Case... cases) {
  core::time_point deadline = core::time_point::max();
  ((deadline = std::min(deadline, core::deadline_of(cases))), ...);
  for (;;) {
    std::size_t index = 0;
    // The first case that happens ends the row.
    if ((((cases.happens() ? (cases.act(), true) : false) || (++index, false)) || ...)) return index;
    bool in_time = true;
    {
      core::watcher me;
      auto all = std::tie(cases...);
      struct entered {
        decltype(all)& in;
        core::watcher& me;
        std::size_t n = 0;
        ~entered() {
          std::size_t woken = 0, k = 0;
          std::apply([&](auto&... c) { ((k++ < n ? woken += c.leave() ? 0 : 1 : 0), ...); }, in);
          me.absorb(woken);
        }
      } at{all, me};
      if (((cases.enter(me) && (++at.n, true)) && ...)) in_time = me.wait(deadline, "the first of several things, in a select");
    }
    if (!in_time) core::throw_if_wait_was_stopped();
  }
}

}  // namespace nopal

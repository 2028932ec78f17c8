#include "nopal/fiber.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/await_wake.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"
#include "nopal/core/wait/yield.hpp"

namespace nopal::inline NOPAL_ABI {

core::waited yield() noexcept {
  if (!core::yield_stack()) std::this_thread::yield();
  return {};
}

namespace {

// The wait of a thread or a stack that only a time, or a request to stop, ends. `t`, the timer: null off a pool.
void sleep_in(core::stop_region& region, core::timer* t, std::chrono::steady_clock::time_point until) {
  core::waiter me;
  core::waits_for const why{"a time", nullptr, core::wait_kind::nothing_more, 0, core::nanoseconds_of(until)};
  core::timer_entry entry{t, me, until, &region};
  auto const start = [&]() noexcept {
    entry.start();
    return true;
  };
  if (t != nullptr) return core::await_wake(me, why, start);
  core::sleeping_thread const listed{why};
  static_cast<void>(core::thread_awaits_wake_until(me, until, start));
}

}  // namespace

void core::sleep_here(time_point t) {
  core::worker* const w = core::current_or_null();
  core::stop_region* const region = core::region_of_wait();
  if (region == nullptr) {
    core::sleeping_thread const listed{{"a time", nullptr, core::wait_kind::nothing_more, 0, core::nanoseconds_of(t)}};
    // In parts: LLVM's sleep_until subtracts the present from the time, and for the earliest of all sleeps for ever.
    using namespace std::chrono_literals;
    for (auto left = core::time_left(t); left.count() > 0; left = core::time_left(t)) {
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, 1h));
    }
    return;
  }
  if (t <= core::now_by(t)) return static_cast<void>(yield());
  core::region_deadline const of_region{region};
  auto const until = std::min(core::deadline_here(t), of_region.here());
  sleep_in(*region, w != nullptr ? &w->pool().timer : nullptr, until);
  of_region.passed(until);
  if (t > core::now_by(t)) core::throw_if_wait_was_stopped();
}

namespace core {

// A task sleeps without a stack.
bool task_waits_for<sleeping>::waits(bool woken) {
  if (woken) {
    static_cast<void>(end_limit());
    if (end_.until > now_by(end_.until)) throw_if_wait_was_stopped();
    if (!end_.is_ahead()) return false;
  }
  start(begin_limit(me_, end_.until, false));
  return true;
}
void task_waits_for<sleeping>::wait_here() {
  do sleep_here(end_.until);
  while (end_.is_ahead());
}

}  // namespace core

}  // namespace nopal

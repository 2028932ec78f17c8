#include "nopal/fiber.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "nopal/core/wait/sleeping_thread.hpp"
#include "nopal/core/wait/timer.hpp"
#include "nopal/core/wait/yield.hpp"

namespace nopal {

void yield() noexcept {
  if (!core::yield_stack()) std::this_thread::yield();
}

void sleep_until(std::chrono::steady_clock::time_point t) {
  core::worker* const w = core::current_or_null();
  if (w == nullptr) {
    core::sleeping_thread const listed{{"a time", nullptr, core::wait_kind::nothing_more, 0, core::nanoseconds_of(t)}};
    // In parts: LLVM's sleep_until subtracts the present from the time, and for the earliest of all sleeps for ever.
    using namespace std::chrono_literals;
    for (auto left = core::time_left(t); left.count() > 0; left = core::time_left(t)) {
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, 1h));
    }
    return;
  }
  if (t <= std::chrono::steady_clock::now()) return yield();
  core::waiter me;
  core::timer_entry entry{w->pool().timer, me, t};
  core::await_wake(me, {"a time", nullptr, core::wait_kind::nothing_more, 0, core::nanoseconds_of(t)}, [&]() noexcept {
    entry.start();
    return true;
  });
}

}  // namespace nopal

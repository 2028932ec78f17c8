#include "nopal/fiber.hpp"

#include <thread>

#include "wait/sleeping_thread.hpp"

namespace nopal {

void core::die_fiber(std::exception_ptr const& e, char const* remedy) noexcept {
  die_in(nullptr, "an exception left a fiber (%s), %s", words_of(e), remedy);
}

void yield() noexcept {
  core::worker* const w = core::current_or_null();
  if (w == nullptr) return std::this_thread::yield();
  if (!w->pool().has_more_for(*w)) return;
  core::waiter me;
  core::park(me, {"its turn, after a yield", nullptr}, [&]() noexcept {
    if (me.thread != nullptr) return false;  // no memory for another stack: nobody may go on with this one
    me.pool->resume_later(me);
    return true;
  });
}

void sleep_until(std::chrono::steady_clock::time_point t) {
  core::worker* const w = core::current_or_null();
  if (w == nullptr) {
    core::sleeping_thread const listed{{"a time", nullptr, core::wait_kind::nothing_more, 0, core::nanoseconds_of(t)}};
    return std::this_thread::sleep_until(t);
  }
  if (t <= std::chrono::steady_clock::now()) return yield();
  core::waiter me;
  core::timer::ticket ticket{w->pool().timer(), me, t};
  core::park(me, {"a time", nullptr, core::wait_kind::nothing_more, 0, core::nanoseconds_of(t)}, [&]() noexcept {
    ticket.start();
    return true;
  });
}

}  // namespace nopal

#include "nopal/fiber.hpp"

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace nopal {

void core::die_fiber(std::exception_ptr const& e, char const* remedy) noexcept {
  std::fprintf(stderr, "nopal: an exception left a fiber (%s), %s\n", words_of(e), remedy);
  std::fflush(stderr);
  std::abort();
}

void yield() noexcept {
  core::worker* const w = core::current_or_null();
  if (w == nullptr) return std::this_thread::yield();
  if (!w->pool().has_more_for(*w)) return;
  core::waiter me;
  core::park(me, {"yield", nullptr}, [&]() noexcept {
    if (me.thread != nullptr) return false;  // no memory for another stack: nobody may go on with this one
    me.pool->resume_later(me);
    return true;
  });
}

void sleep_until(std::chrono::steady_clock::time_point t) {
  core::worker* const w = core::current_or_null();
  if (w == nullptr) return std::this_thread::sleep_until(t);
  if (t <= std::chrono::steady_clock::now()) return yield();
  core::waiter me;
  core::timer::ticket ticket{w->pool().timer(), me, t};
  core::park(me, {"a time", nullptr}, [&]() noexcept {
    ticket.start();
    return true;
  });
}

}  // namespace nopal

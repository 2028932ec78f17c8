#include "nopal/counter.hpp"

#include <exception>
#include <utility>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/process.hpp"
#include "nopal/core/observe/measured.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/stop/stopped.hpp"
#include "report/held_exceptions.hpp"

namespace nopal::inline NOPAL_ABI {

void counter::done_slowly(std::int64_t n) noexcept { word_.done_slowly(n); }
// A fiber has thrown. It has not counted the counter down yet, so the counter lives. Reports list the exception while the counter keeps it.
void counter::failed(std::exception_ptr e) noexcept {
  core::hold(this, e, [&] { word_.failed(e); });
}

void counter::rethrow_if_thrown() {
  if (!word_.has_exception()) return;
  std::exception_ptr e;
  core::drop_held(this, [&] { e = word_.take_exception(); });
  if (e != nullptr) std::rethrow_exception(e);
}

// The counter is being destroyed, and is above 0, or a flag is set: a thread waits for it, it has an exception, or a done is about to clear
// the lock bit; close waits for that.
void counter::check_destroyed() noexcept {
  word_.close();
  if (word_.is_awaited()) {
    core::die_unless_in_exit("a counter was destroyed while a fiber, task or thread waits for it; let it outlive every wait_for()");
  }
  if (std::int64_t const n = word_.load(); n > 0 && !core::is_in_exit()) {
    core::die_in(nullptr,
                 "a counter was destroyed at %lld, while fibers may still count it down; "
                 "call nopal::wait_for(counter) before its scope ends",
                 static_cast<long long>(n));
  }
  std::exception_ptr const e = word_.unclaimed();
  if (e == nullptr) return;
  if (std::uncaught_exceptions() == 0 && !word_.is_known() && !core::is_stopped(e)) {
    core::die_fiber(e, "and its counter was destroyed with it; call nopal::wait_for(counter), which rethrows it");
  }
  core::drop_held(this, [] {});
}

void core::die_fiber(std::exception_ptr const& e, char const* remedy) noexcept {
  die_in(nullptr, "an exception left a fiber (%s), %s", message_of(e), remedy);
}

void core::fail_fiber(counter* c, std::exception_ptr e) noexcept {
  if (c != nullptr) return c->failed(std::move(e));
  if (is_stopped(e)) return;
  die_fiber(e,
            "and no counter was given to nopal::spawn, so it cannot be rethrown; catch it in the fiber, or call spawn(counter, f) and "
            "wait_for(counter)");
}

core::waited wait_for(counter& c, std::int64_t value) {
  core::in_order();
  core::wait_in_profile measured{&c};
  if (!core::wait_may_end_early()) [[likely]] {
    c.word_.wait(value);
  } else if (!c.word_.wait_until(value, core::time_point::max(), "a counter")) {
    core::throw_stopped();
  }
  measured.came();
  c.rethrow_if_thrown();
  return {};
}

bool wait_until(counter& c, std::int64_t value, std::chrono::steady_clock::time_point deadline) {
  core::in_order();
  core::wait_in_profile measured{&c};
  bool const in_time = c.word_.wait_until(value, deadline);
  if (!in_time) core::throw_if_wait_was_stopped();
  if (in_time) measured.came();
  if (in_time) c.rethrow_if_thrown();
  return in_time;
}

}  // namespace nopal

// The guard of a stretch of code that its thread does not leave.

#include "nopal/stay.hpp"

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/home.hpp"

namespace nopal {

stay::stay() noexcept : on_{nullptr}, was_fast_{false} {
  if (core::current_or_null() == nullptr) return;
  core::move_to_own_thread(*core::current());
  core::worker& w = *core::current();
  on_ = w.here;
  ++on_->stays;
  was_fast_ = w.alarm == core::worker::no_tasks;
  if (was_fast_) w.alarm = core::worker::no_alarm;
}

stay::~stay() {
  core::fork_state* const state = core::state_here();
  if (state->here != on_) {
    core::die("a nopal::stay ended on another stack than it began on: it lived across a co_await; make one in an ordinary function that the "
              "task calls");
  }
  if (on_ == nullptr) return;
  --on_->stays;
  if (was_fast_) state->alarm = core::worker::no_tasks;
}

}  // namespace nopal

#include "nopal/core/scheduler/typed_job.hpp"

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stop/stopped.hpp"

namespace nopal::inline NOPAL_ABI::core {

void detached_threw(std::exception_ptr const& e, void const* function) noexcept {
  if (is_stopped(e)) return;
  die_in(function, "an exception left a job that was given to pool::detach (%s); catch it there, or use pool::submit", message_of(e));
}

void dropped_threw(std::exception_ptr const& e, void const* function) noexcept {
  if (is_stopped(e)) return;
  die_in(
      function,
      "an exception left a job that was given to pool::submit (%s), and its future was destroyed before get(); call get(), which rethrows "
      "it, or catch it in the job",
      message_of(e));
}

}  // namespace nopal::core

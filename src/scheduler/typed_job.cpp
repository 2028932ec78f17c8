#include "nopal/core/scheduler/typed_job.hpp"

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/stop/stopped.hpp"

namespace nopal::inline NOPAL_ABI::core {

// relaxed: this thread has given up the last share, and the count of shares orders it behind those who have let the exception go.
void any_result::end_if_lost(std::exception_ptr const& e, void const* function) const noexcept {
  if (!is_let_go_.load(std::memory_order_relaxed) && failed_with_ == nullptr) dropped_threw(e, function);
}

kept_job::~kept_job() = default;

void end_submitted(job& r, kept_job& k, completion& done) noexcept {
  end_of_job(k.values);
  pool_state& owner = *r.pool;
  pool_state& here = current()->pool();  // another one, if it is a task that has moved: what begins after the job is given to it
  auto const alive = std::move(k.self);  // until here the job keeps itself alive, also if the future is dropped
  drop_region(r.runs_in.region);         // which submit holds
  if (&here != &owner) here.pending.started();
  done.set();
  if (&here != &owner) here.pending.finished();
  owner.pending.finished();
}

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

#include "nopal/core/wait/job_wait.hpp"

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

namespace nopal::core {

void wait_for_job(event& done) noexcept {
  if (done.is_set()) return;
  worker* const w = current_or_null();
  if (w == nullptr) return sleep_until_set(done, {"a job", nullptr});
  wait_on_worker(*w, done, {"a job", nullptr});
}

// Without memory for another stack the worker waits where it is, and nobody may be there to bring what it waits for: so it tries again and again.
void wait_on_worker(worker& w, event& done, waits_for why) noexcept {
  waiting_stack me;
  me.pool = &w.pool();
  me.worker = w.index();
  me.what = w.here;
  while (!suspend(why, true, [&](stack&) noexcept { return !done.await(me); })) {
    if (done.wait_for(tuning::wait_without_stack)) return;
  }
}

}  // namespace nopal::core

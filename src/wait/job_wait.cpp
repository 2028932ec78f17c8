#include "nopal/core/wait/job_wait.hpp"

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/wait/sleeping_thread.hpp"

namespace nopal::inline NOPAL_ABI::core {

void wait_for_job(event& done, void const* job) noexcept {
  if (done.is_set()) return;
  worker* const w = current_or_null();
  if (w == nullptr) return sleep_until_set(done, {"a job", nullptr});
  wait_on_worker(*w, done, {"a job", nullptr, job != nullptr ? wait_kind::join : wait_kind::nothing_more}, job);
}

// The job has not ended. Without memory for another stack the worker sleeps on the event, and tries to suspend again every millisecond:
// what the job needs may need this very worker. On return the event is set.
void wait_on_worker(worker& w, event& done, waits_for why, void const* join) noexcept {
  waiting_stack me;
  me.pool = &w.pool();
  me.worker = w.index();
  me.what = w.here;
  me.for_job = join != nullptr;
  if (waits_on_top(w, join)) {
    return wait_on_top(why, join, [&](top_wait& t) noexcept {
      me.on_top = &t;
      return done.await(me);
    });
  }
  while (!suspend(why, true, [&](stack&) noexcept { return !done.await(me); })) {
    if (done.wait_for(tuning::wait_without_stack)) return;
  }
}

}  // namespace nopal::core

#include "nopal/core/wait/yield.hpp"

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/home.hpp"
#include "nopal/core/stack/suspension.hpp"
#include "nopal/core/wait/event.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

bool yield_stack() noexcept {
  worker* const w = current_or_null();
  if (w == nullptr) return false;
  tell::makes_way(*w);
  waits_for const why{"its turn, after a yield", nullptr};
  if (waits_on_top(*w, nullptr)) {
    yield_on_top(why);
    return true;
  }
  if (!w->has_more()) return true;
  // If the next turn were an inbox's, this stack, soon alone there, would continue before what is ready; so the turns begin anew. If an
  // inbox has something already, its turn stays: so strands that yield, and what they begin, never hold up what comes from outside. After
  // an inbox's turn comes that of the oldest, which stays, too.
  if (w->open.empty() && w->own.empty() && w->search.ready_taken / tuning::fairness % 2 == 0) w->search.ready_taken = 0;
  waiting_stack me;
  me.pool = &w->pool();
  me.worker = w->index();
  me.what = w->here;
  static_cast<void>(suspend(why, false, [&](stack&) noexcept {  // without memory the caller continues
    me.resume_later();
    return false;
  }));
  return true;
}

}  // namespace nopal::core

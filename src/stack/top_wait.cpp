#include "nopal/core/stack/top_wait.hpp"

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/suspension.hpp"

namespace nopal::inline NOPAL_ABI::core {

// A thread from outside the pool may report the last event that the pool has to run for, and the pool's destructor would not wait for that
// thread: so it counts as pending work.
void top_wait::resume() noexcept {
  stack& s = stack_;
  pool_state& p = pool_;
  unsigned const i = worker_;
  worker const* const w = current_or_null();
  bool const from_outside = w == nullptr || &w->pool() != &p;
  if (from_outside) p.pending.started();
  if (happens()) {
    bring_home(p, s);
  } else {
    p.parking.call(i);
  }
  if (from_outside) p.pending.finished();
}

}  // namespace nopal::core

#include "nopal/core/scheduler/injection.hpp"

#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/move_request.hpp"
#include "observe/tell.hpp"

namespace nopal::inline NOPAL_ABI::core {

// Other threads may push to the same inbox, and workers empty it, at the same time. The visible work is counted before the push, so that
// the count is never too low and no thief sleeps over the job. In a pool that does not steal only worker i may run it: then it is no
// visible work, and worker i is woken.
void inject(pool_state& pool, resumable& r, unsigned i) noexcept {
  if (pool.steals) pool.parking.add();
  pool.workers[i]->open.push(&r);
  if (pool.steals) {
    pool.parking.announce(i);
  } else {
    pool.parking.notify(i);
  }
  pool.naps.end();
  tell::something_new(pool);
}

unsigned choose_worker(pool_state& pool) noexcept {
  unsigned const first = pool.next_worker.fetch_add(1, std::memory_order_relaxed) % pool.size();  // relaxed: any value will do
  for (unsigned k = 0; k < pool.size(); ++k) {
    if (unsigned const i = (first + k) % pool.size(); pool.parking.is_asleep(i)) return i;
  }
  return first;
}

// The task may end as soon as it is pushed, and nothing else may keep the other pool alive. So if this thread does not work for that pool,
// the pool has something pending until this function no longer uses it. If it does, the pool's end joins this thread, or must not begin,
// since the thread is in pool::run.
void send(move_request& m) noexcept {
  worker& to = *m.to;
  pool_state& there = to.pool();
  worker const* const w = current_or_null();
  bool const from_outside = w == nullptr || &w->pool() != &there;
  if (from_outside) {
    there.pending.started();
    there.needs_threads();
  }
  to.own.push(&m);
  there.parking.call(to.index());
  there.naps.end();  // that worker's thread may be the one that naps
  tell::something_new(there);
  if (from_outside) there.pending.finished();
}

}  // namespace nopal::core

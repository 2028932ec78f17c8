#include "nopal/core/scheduler/injection.hpp"

#include "nopal/core/scheduler/worker.hpp"

namespace nopal::core {

// The visible work is counted before the push and never too low, so that no thief sleeps over it. Where nothing is stolen, nobody else may run
// it: then it is no visible work, and its own worker is woken.
void inject(pool_state& pool, resumable& r, unsigned i) noexcept {
  if (pool.steals) pool.parking.add();
  pool.workers[i]->open.push(&r);
  if (pool.steals) {
    pool.parking.announce(i);
  } else {
    pool.parking.notify(i);
  }
  if (pool.control != nullptr) [[unlikely]] pool.control->something_new();
}

unsigned choose_worker(pool_state& pool) noexcept {
  unsigned const first = pool.next_worker.fetch_add(1, std::memory_order_relaxed) % pool.size();  // relaxed: any will do
  for (unsigned k = 0; k < pool.size(); ++k) {
    if (unsigned const i = (first + k) % pool.size(); pool.parking.is_parked(i)) return i;
  }
  return first;
}

// The task may have ended as soon as it is pushed, and with it whoever keeps the other pool alive: so that one has something pending meanwhile.
void send(move_request& m) noexcept {
  worker& to = *m.to;
  pool_state& there = to.pool();
  there.pending.started();
  to.own.push(&m);
  there.parking.notify(to.index());
  if (there.control != nullptr) [[unlikely]] there.control->something_new();
  there.pending.finished();
}

}  // namespace nopal::core

#include "nopal/core/scheduler/submission.hpp"

#include <chrono>
#include <cstdint>
#include <new>
#include <thread>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/injection.hpp"
#include "nopal/core/task/strand_loop.hpp"

namespace nopal::core {

void submit(pool_state& pool, root& r) noexcept {
  pool.pending.started();
  r.run = run_injected_root;
  worker const* const w = current_or_null();
  if (w != nullptr && &w->pool() == &pool) return inject(pool, r, w->index());
  if (pool.control != nullptr) [[unlikely]] pool.control->settle();
  inject(pool, r, choose_worker(pool));
}

void spawn_from_outside(pool_state& pool, resumable& fiber) noexcept {
  pool.spawned_outside.fetch_add(1, std::memory_order_seq_cst);  // before the fiber can finish: see wait_for_all
  if (pool.control != nullptr) [[unlikely]] pool.control->settle();
  inject(pool, fiber, choose_worker(pool));
}

void spawn_again(worker& w, resumable& fiber) noexcept {
  w.count.add(counted::fibers_spawned);  // before the fiber can finish: see wait_for_all
  try {
    w.make_room_for_ready();
    w.make_ready(fiber);
  } catch (std::bad_alloc const&) {
    inject(w.pool(), fiber, w.index());
  }
}

// seq_cst, of which acquire pairs with the release of each count that a fiber has finished: a fiber that is counted here was spawned
// before, and is in the sum of the spawned fibers, which wait_for_all reads later.
static std::uint64_t fibers_finished(pool_state const& pool) noexcept {
  std::uint64_t n = 0;
  for (worker const* w : pool.workers) n += w->count.read(counted::fibers_finished, std::memory_order_seq_cst);
  return n;
}
static std::uint64_t fibers_spawned(pool_state const& pool) noexcept {
  std::uint64_t n = pool.spawned_outside.load(std::memory_order_seq_cst);
  for (worker const* w : pool.workers) n += w->count.read(counted::fibers_spawned, std::memory_order_seq_cst);
  return n;
}

// The pool ends. Its workers still run fibers and roots, which may spawn and submit more. Both sums only grow, and a fiber or root that
// runs is counted as spawned or submitted, not as finished. So if nothing was pending, the sums were equal, and none of them had grown when
// it was read again, then nothing ran in between, and nothing can begin any more.
void wait_for_all(pool_state& pool) noexcept {
  for (;;) {
    std::uint64_t const spawned = fibers_spawned(pool);
    std::uint64_t const submitted = pool.pending.wait();
    if (fibers_finished(pool) == spawned && fibers_spawned(pool) == spawned && pool.pending.none_since(submitted)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{tuning::end_of_fibers});
  }
}

}  // namespace nopal::core

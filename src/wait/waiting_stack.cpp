#include "nopal/core/wait/waiting_stack.hpp"

#include <new>

#include "nopal/core/scheduler/injection.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/suspension.hpp"

namespace nopal::core {

static void run_waiting_stack(resumable& r, worker&) noexcept { resume_stack(*static_cast<waiting_stack&>(r).what); }

static unsigned choose_for(pool_state& p, unsigned left_by) noexcept { return p.steals ? choose_worker(p) : left_by; }

void waiting_stack::resume() noexcept {
  run = run_waiting_stack;
  pool_state& p = *pool;
  unsigned const left_by = worker;
  core::worker* const w = current_or_null();
  if (w == nullptr || &w->pool() != &p) {
    // Once it is resumed it may be the last that this pool has to do, and who destroys the pool does not know of us.
    p.pending.started();
    inject(p, *this, choose_for(p, left_by));
    return p.pending.finished();
  }
  if (p.steals) {
    try {
      w->make_room_for_ready();
      return w->make_ready(*this);
    } catch (std::bad_alloc const&) {
    }
  }
  inject(p, *this, choose_for(p, left_by));
}

void waiting_stack::resume_later() noexcept {
  run = run_waiting_stack;
  inject(*pool, *this, worker);
}

}  // namespace nopal::core

#include "nopal/core/scheduler/pool_state.hpp"

#include <utility>

#include "nopal/core/base/tuning.hpp"

namespace nopal::core {

// What this thread has finished is pending until it is counted here, so nobody has found an end before, and the pool is there. Under the
// mutex: whoever looks for the end next finds it only after this thread has let it go.
void pending_work::last_finished() noexcept {
  waiter* w = nullptr;
  {
    std::lock_guard const guard{mutex_};
    if (pending_.fetch_sub(one, std::memory_order_seq_cst) >= 2 * one) return;  // something was submitted meanwhile
    w = std::exchange(waiters_, nullptr);
    pending_.fetch_and(~awaited, std::memory_order_relaxed);  // relaxed: whoever looks next takes the mutex
  }
  while (w != nullptr) {  // the last of them may end the pool now
    waiter& first = *std::exchange(w, w->next);
    first.wake(first);
  }
}

bool pending_work::none_or_wake(std::uint64_t& submitted, waiter& w) noexcept {
  std::lock_guard const guard{mutex_};
  submitted = submitted_.load(std::memory_order_seq_cst);
  if (pending_.fetch_or(awaited, std::memory_order_seq_cst) < one) {
    if (waiters_ == nullptr) pending_.fetch_and(~awaited, std::memory_order_relaxed);  // relaxed: as in last_finished
    return true;
  }
  w.next = std::exchange(waiters_, &w);
  return false;
}

bool pending_work::do_not_wake(waiter& w) noexcept {
  std::lock_guard const guard{mutex_};
  for (waiter** at = &waiters_; *at != nullptr; at = &(*at)->next) {
    if (*at == &w) {
      *at = w.next;
      if (waiters_ == nullptr) pending_.fetch_and(~awaited, std::memory_order_relaxed);  // relaxed: as in last_finished
      return true;
    }
  }
  return false;
}

bool pending_work::none_since(std::uint64_t submitted) noexcept {
  return submitted_.load(std::memory_order_seq_cst) == submitted && pending_.load(std::memory_order_seq_cst) < one;
}

std::uint64_t pending_work::count() noexcept { return pending_.load(std::memory_order_relaxed) / one; }  // relaxed: for a message

// The NUMA node of each worker.
static std::vector<unsigned> nodes_of(std::vector<place> const& places) {
  std::vector<unsigned> nodes;
  for (place const& p : places) nodes.push_back(p.node);
  return nodes;
}

pool_state::pool_state(pool_options const& o, std::vector<place> where, std::unique_ptr<controlled_schedule> c,
                       core::timer& t, entry_points e)
    : call{e},
      steals{o.steal},
      resume{o.resume},
      idle{o.idle},
      name{o.name},
      control{std::move(c)},
      places{std::move(where)},
      stacklets{e.note_free_segments, this},
      stacks{o.stack_size, o.reclaim, tuning::kept_stacks * places.size(), static_cast<unsigned>(places.size()), e.run_left_stack},
      timer{t},
      parking{nodes_of(places)},
      stacks_stay{o.resume == resume::home} {}

}  // namespace nopal::core

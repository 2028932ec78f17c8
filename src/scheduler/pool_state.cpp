#include "nopal/core/scheduler/pool_state.hpp"

#include <utility>

#include "nopal/core/base/tuning.hpp"

namespace nopal::core {

void pending_work::finished() noexcept {
  waiter* w = nullptr;
  {
    std::lock_guard const guard{mutex_};
    if (--pending_ != 0) return;
    w = std::exchange(waiters_, nullptr);
  }
  while (w != nullptr) {  // the last of them may end the pool now
    waiter& first = *std::exchange(w, w->next);
    first.wake(first);
  }
}

bool pending_work::none_or_wake(std::uint64_t& submitted, waiter& w) noexcept {
  std::lock_guard const guard{mutex_};
  submitted = submitted_;
  if (pending_ == 0) return true;
  w.next = std::exchange(waiters_, &w);
  return false;
}

bool pending_work::do_not_wake(waiter& w) noexcept {
  std::lock_guard const guard{mutex_};
  for (waiter** at = &waiters_; *at != nullptr; at = &(*at)->next) {
    if (*at == &w) {
      *at = w.next;
      return true;
    }
  }
  return false;
}

bool pending_work::none_since(std::uint64_t submitted) noexcept {
  std::lock_guard const guard{mutex_};
  return pending_ == 0 && submitted_ == submitted;
}

std::uint64_t pending_work::count() noexcept {
  std::lock_guard const guard{mutex_};
  return pending_;
}

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
      backs_off{o.back_off},
      resume{o.resume},
      idle{o.idle},
      name{o.name},
      control{std::move(c)},
      places{std::move(where)},
      stacks{o.stack_size, o.reclaim, tuning::kept_stacks * places.size(), static_cast<unsigned>(places.size()), e.run_left_stack},
      timer{t},
      parking{nodes_of(places)} {}

}  // namespace nopal::core

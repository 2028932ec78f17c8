#include "nopal/core/scheduler/pool_state.hpp"

#include <algorithm>
#include <utility>

#include "nopal/core/base/tuning.hpp"
#include "nopal/core/machine/cpus.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- The pools that the process has.

void live_pool::enter(pool_state const& mine, char const* name) noexcept {
  std::lock_guard const guard{mutex_};
  pool_ = &mine;
  name_ = name;
  next_ = first_;
  in_ = &first_;
  if (next_ != nullptr) next_->in_ = &next_;
  first_ = this;
}

void live_pool::leave() noexcept {
  std::lock_guard const guard{mutex_};
  if (in_ == nullptr) return;
  *in_ = next_;
  if (next_ != nullptr) next_->in_ = in_;
  in_ = nullptr;
}

// ---- The pool.

static std::vector<unsigned> nodes_of(std::vector<place> const& places) {
  std::vector<unsigned> nodes;
  nodes.reserve(places.size());
  for (place const& p : places) nodes.push_back(p.node);
  return nodes;
}

pool_state::pool_state(pool_options const& o, std::vector<place> where, std::unique_ptr<observer> its, std::shared_ptr<event_source> source,
                       core::timer& t, blocking_threads& b, entry_points e)
    : call{e},
      steals{o.experimental.steal},
      search_before_sleep{std::max<std::int64_t>(o.keep_warm.count(), tuning::search_before_sleep)},
      backs_off{o.experimental.back_off},
      resume{o.resume},
      idle{o.idle},
      choose_victim{o.experimental.choose_victim},
      name{o.name},
      observed{std::move(its)},
      takes_turns{observed != nullptr && observed->has().takes_turns},
      has_own_clock{observed != nullptr && observed->has().has_own_clock},
      counts_jobs{observed != nullptr && observed->has().counts_jobs},
      places{std::move(where)},
      limit{o.limit && !keeps_own_time() ? o.limit->permits_ : nullptr},
      stacklets{e.note_free_memory, this},
      memory_limit{choose_memory_limit(o.memory_limit)},
      stacks{o.stack_size,     o.experimental.reclaim,           tuning::kept_stacks * places.size(), static_cast<unsigned>(places.size()),
             e.run_left_stack, o.experimental.pages_kept_at_join},
      timer{t},
      blocking{b},
      tasks_that_wait{places.size()},
      events{std::move(source)},
      parking{nodes_of(places), events.source()},
      stacks_stay{o.resume == resume::home} {}

pool_state::~pool_state() = default;

}  // namespace nopal::core

#include "nopal/core/loop/sharing.hpp"

#include <algorithm>
#include <cstdlib>

#include "nopal/core/architecture/clock_ticks.hpp"
#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/loop/offer.hpp"
#include "nopal/core/loop/pace.hpp"
#include "nopal/core/scheduler/external_caller.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/pool.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// The limit if no thread would come. A loop that takes `cold` times as long, as its first part may hide, is still not worth a pool.
double longest_alone() noexcept { return loop_tuning::worth_a_pool() / static_cast<double>(loop_tuning::cold); }

// Loops are in a row if at most this is between them: threads that were woken for one are still awake for the next.
std::uint64_t soon(pool_state const& pool) noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(pool.search_before_sleep) / 1000 * ticks_per_microsecond());
}

// Waking a thread is paid once, and it stays awake for a while. So one long loop is worth it, or many in a row, of which this one knows
// only those that have ended.
bool is_worth(pool_state& pool, double elapsed, double rest) noexcept {
  if (!pool.steals || pool.size() == 1 || rest < loop_tuning::worth_a_steal()) return false;
  if (pool.parking.somebody_searches()) return true;
  bool const alone_is_long = elapsed >= loop_tuning::worth_a_steal() && rest >= loop_tuning::worth_a_wake();
  if (!alone_is_long && static_cast<double>(pool.alone.ticks(loop_ticks(), soon(pool))) < loop_tuning::worth_a_wake()) return false;
  pool.alone.forget();
  return true;
}

// The pool that would run the caller's loop; null: none has been made.
pool_state* pool_here() noexcept {
  worker* const w = current_or_null();
  return w != nullptr ? &w->pool() : default_pool_state_if_any();
}

}  // namespace

static std::uint64_t ticks_by_own_clock() noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(std_sync::now()) / 1000 * ticks_per_microsecond());
}

std::uint64_t loop_ticks() noexcept {
  virtual_time const* const v = virtual_time::here();
  return v != nullptr && v->is_given() ? ticks_by_own_clock() : clock_ticks();
}

std::uint64_t waiting_ticks() noexcept {
  virtual_time const* const v = virtual_time::here();
  return v != nullptr && v->is_simulated() ? ticks_by_own_clock() : clock_ticks();
}

bool could_share() noexcept {
  pool_state const* const pool = pool_here();
  return pool == nullptr || (pool->steals && pool->size() > 1);
}

bool worth_sharing(double elapsed, double rest) noexcept {
  worker* const w = current_or_null();
  if (w != nullptr && !w->work.empty()) return w->pool().steals && between_blocks(*w);
  if (pool_state* const pool = pool_here(); pool != nullptr) return is_worth(*pool, elapsed, rest);
  return rest >= loop_tuning::worth_a_pool();
}

void wake_for(double rest) noexcept {
  worker const& w = *current();
  double const others = std::min(rest / loop_tuning::worth_a_worker(), static_cast<double>(w.pool().size())) - 1;
  if (others > 0 && w.pool().steals) w.pool().parking.wake_several(w.index(), static_cast<int>(others), tuning::woken_at_once);
}

void ended_alone(std::uint64_t began) noexcept {
  std::uint64_t const now = loop_ticks();
  if (static_cast<double>(now - began) < loop_tuning::worth_a_steal()) return;
  if (pool_state* const pool = pool_here(); pool != nullptr && pool->size() > 1) pool->alone.note(now, now - began, soon(*pool));
}

void note_who_shares(bool by_schedule) noexcept {
  if (current_or_null() != nullptr) return;
  double const shared_from = could_share() && pool_here() != nullptr ? loop_tuning::worth_a_steal() : longest_alone();
  auto const ticks = static_cast<std::uint64_t>(by_schedule ? 0 : shared_from);
  // relaxed: a hint
  if (std::atomic<std::uint64_t>& a = alone_outside(); a.load(std::memory_order_relaxed) != ticks)
    a.store(ticks, std::memory_order_relaxed);
}

bool shares_by_schedule() noexcept {
  if (pool_state const* const pool = pool_here(); pool != nullptr) return pool->takes_turns;
  static bool const wanted = [] {
    char const* const text = std::getenv("NOPAL_SCHEDULE");  // NOLINT(concurrency-mt-unsafe): the environment must not change meanwhile
    return text != nullptr && *text != '\0';
  }();
  return wanted;
}

bool begins_inside() noexcept {
  if (current_or_null() != nullptr) return false;
  pool_state const* const pool = pool_here();
  return shares_by_schedule() || (pool != nullptr && pool->has_own_clock);
}

bool enter_default_pool(void (*what)(void* arg), void* arg, double rest) {
  auto const job = [=] { what(arg); };
  awaited_job<decltype(job) const&> r{job};
  r.pool = &default_pool_state();
  if (rest >= loop_tuning::worth_a_wake()) {
    run_and_wait(*r.pool, r, r.done);
  } else if (!run_if_one_sleeps(*r.pool, r, r.done)) {
    return false;
  }
  r.take();
  return true;
}

}  // namespace nopal::core

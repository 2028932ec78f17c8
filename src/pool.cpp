#include "nopal/pool.hpp"
#include "nopal/cpu_limit.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>

#include "nopal/core/base/process.hpp"
#include "nopal/core/scheduler/permits.hpp"
#include "nopal/core/scheduler/scheduler.hpp"
#include "nopal/core/scheduler/submission.hpp"
#include "scheduler/option_checks.hpp"

namespace nopal::inline NOPAL_ABI {

// Reads NOPAL_KEEP_WARM. NOPAL_WORKERS is for every pool: scheduler.cpp reads it.
static pool_options options_of_default_pool() {
  pool_options o;
  o.keep_warm = std::chrono::milliseconds{core::number_in("NOPAL_KEEP_WARM", 3'600'000, "number of milliseconds from 0 to ",
                                                          "write one, or unset it: workers that find nothing sleep after 0.2 ms then")};
  return o;
}

// The default pool. It is never destroyed.
static constinit std::atomic<pool*> the_default_pool{nullptr};

struct core::default_pool_maker {
  static pool_state& state_of(pool& p) noexcept { return p.state(); }

  // There is no default pool, or its threads have ended, or are in the parent of a fork. A lock of its own, not that of a static variable,
  // since a thread that forks must hold it.
  [[gnu::noinline, gnu::cold]] static pool& make() {
    prepare_process();
    std::lock_guard const guard{default_pool_changes};
    pool* p = the_default_pool.load(std::memory_order_relaxed);  // relaxed: under the lock
    if (p != nullptr) {
      p->scheduler_->need_threads();
    } else {
      p = new pool{options_of_default_pool()};
      p->state().is_default = true;
      alone_outside().store(0, std::memory_order_relaxed);  // relaxed: a hint; loops find out again
      scheduler::keep(*p->scheduler_);
      the_default_pool.store(p, std::memory_order_release);  // release: pairs with the loads in default_pool and shut_down
    }
    return *p;
  }

  static shutdown_result end(pool& p, time_point deadline) {
    pool_state& state = p.state();
    if (unsigned const in = state.process.load(std::memory_order_seq_cst); in != 0 && in != process_number) {
      the_default_pool.store(nullptr, std::memory_order_relaxed);  // relaxed: no other thread of this process has the old one
      return {};
    }
    if (p.scheduler_->end_threads(deadline)) return {};
    return shutdown_result{"nopal::shutdown: the time limit has expired, and the default pool goes on; it has " + what_is_left(state) +
                           "\n" + p.report()};
  }
};

pool& default_pool() {
  // acquire: pairs with the release in make, for the pool
  pool* const p = the_default_pool.load(std::memory_order_acquire);
  if (p != nullptr && core::default_pool_maker::state_of(*p).has_threads()) [[likely]]
    return *p;
  return core::default_pool_maker::make();
}

core::pool_state* core::default_pool_state_if_any() noexcept {
  pool* const p = the_default_pool.load(std::memory_order_acquire);  // acquire: as in default_pool
  if (p == nullptr) return nullptr;
  pool_state& state = default_pool_maker::state_of(*p);
  return state.has_threads() ? &state : nullptr;
}

core::pool_state& core::default_pool_state() { return default_pool_maker::state_of(default_pool()); }

shutdown_result core::shut_down(time_point deadline) {
  if (current_or_null() != nullptr) {
    throw std::logic_error{
        "nopal::shutdown: called by a job, on a thread that works for a pool, which would wait for itself; call it on another thread, such "
        "as that of main"};
  }
  pool* const p = the_default_pool.load(std::memory_order_acquire);  // acquire: as in default_pool
  return p != nullptr ? default_pool_maker::end(*p, deadline) : shutdown_result{};
}

pool* pool::current() noexcept {
  core::worker const* const w = core::current_or_null();
  return w != nullptr ? w->pool().owner : nullptr;
}

worker_ref pool::worker(unsigned i) const& {
  if (i >= workers()) {
    throw std::out_of_range{"nopal::pool::worker(" + std::to_string(i) + "): this pool has workers 0 to " + std::to_string(workers() - 1)};
  }
  return worker_ref{scheduler_->at(i)};
}

core::move_awaiter resume_on(pool& p) { return core::move_awaiter{p.scheduler_->at(core::choose_worker(p.state()))}; }

unsigned this_worker::index() {
  core::worker const* const w = core::current_or_null();
  if (w == nullptr) {
    throw std::logic_error{
        "nopal::this_worker::index(): this thread works for no pool; call it inside a task, or this_worker::index_or(otherwise)"};
  }
  return w->index();
}

unsigned this_worker::index_or(unsigned otherwise) noexcept {
  core::worker const* const w = core::current_or_null();
  return w != nullptr ? w->index() : otherwise;
}

// ---- cpu_limit.

cpu_limit::cpu_limit(unsigned workers) {
  if (workers == 0) throw std::invalid_argument{"nopal::cpu_limit: 0 workers may run, and so nothing would; ask for at least 1"};
  if (workers > core::permits::most) {
    throw std::invalid_argument{"nopal::cpu_limit: " + std::to_string(workers) + " workers are more than the limit of " +
                                std::to_string(core::permits::most) + "; ask for fewer, or make the pools without a limit"};
  }
  permits_ = std::make_shared<core::permits>(workers);
}

unsigned cpu_limit::workers() const noexcept { return permits_->all(); }
unsigned cpu_limit::running() const noexcept { return permits_->taken(); }

}  // namespace nopal

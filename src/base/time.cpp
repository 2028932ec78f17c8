#include "nopal/core/base/virtual_time.hpp"

#include <time.h>

#include <chrono>
#include <cstdint>
#include <mutex>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/wait/deadline.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

constinit thread_local virtual_time* of_this_thread = nullptr;
constinit std::mutex changes;  // of the list of domains

using clock = std::chrono::steady_clock;

struct reading {
  std::uint64_t ticks;
  clock::time_point time;
};

// Both clocks at one time: the closest of several pairs, since the thread may lose its CPU between the two.
reading both() noexcept {
  reading best{};
  auto closest = clock::duration::max();
  for (int n = 0; n < 100 && (n < 5 || closest > std::chrono::microseconds{1}); ++n) {
    auto const before = clock::now();
    std::uint64_t const ticks = clock_ticks();
    auto const after = clock::now();
    if (after - before >= closest) continue;
    closest = after - before;
    best = {ticks, before + closest / 2};
  }
  return best;
}

// The first time at which both were read.
reading const& first_reading() noexcept {
  static reading const first = both();
  return first;
}

// Read as this object is loaded: the guard of a static variable that another thread has taken, and a fork has copied, is never free.
[[gnu::constructor(101)]] void read_from_the_start() noexcept { static_cast<void>(first_reading()); }

}  // namespace

// ---- Virtual time.

constinit std::atomic<virtual_time::domain*> virtual_time::domains{nullptr};
constinit std::atomic<unsigned> simulated_machines{0};

void come_in_order() noexcept {
  if (virtual_time* const v = virtual_time::here(); v != nullptr) v->come_in_order();
}

time_point simulated_now() noexcept {
  virtual_time* const v = virtual_time::here();
  return v != nullptr && v->is_simulated() ? simulated_times + std::chrono::nanoseconds{v->now()} : std::chrono::steady_clock::now();
}

[[gnu::noinline]] virtual_time* virtual_time::here() noexcept { return of_this_thread; }
void virtual_time::set_here(virtual_time* v) noexcept { of_this_thread = v; }

void virtual_time::hold_here() noexcept {
  if (virtual_time* const v = here(); v != nullptr) v->locks_ = v->locks_ + 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // pairs with the handler, on the same thread
}
void virtual_time::let_go_here() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // as above
  if (virtual_time* const v = here(); v != nullptr) v->locks_ = v->locks_ - 1;
}

void virtual_time::before_fork() noexcept {
  if (virtual_time* const v = here(); v != nullptr) v->locks_ = v->locks_ + 1;
  changes.lock();
}
void virtual_time::after_fork(bool in_child) noexcept {
  virtual_time* const v = here();
  if (in_child) {
    domains.store(nullptr, std::memory_order_seq_cst);
    simulated_machines.store(0, std::memory_order_relaxed);  // relaxed: the only thread
    set_here(nullptr);
  }
  changes.unlock();
  if (v != nullptr) v->locks_ = v->locks_ - 1;
}

void virtual_time::domain::enter_list() noexcept {
  not_interrupted const me{here()};
  std::lock_guard const guard{changes};
  next_ = domains.load(std::memory_order_relaxed);  // relaxed: under the lock
  domains.store(this, std::memory_order_seq_cst);
  simulated_machines.fetch_add(1, std::memory_order_relaxed);  // relaxed: virtual_time.hpp
}

void virtual_time::domain::leave_list() noexcept {
  not_interrupted const me{here()};
  std::lock_guard const guard{changes};
  domain* d = domains.load(std::memory_order_relaxed);  // relaxed: under the lock
  if (d == this) {
    domains.store(next_, std::memory_order_seq_cst);
  } else {
    while (d != nullptr && d->next_ != this) d = d->next_;
    if (d == nullptr) return;  // it is the parent's, in the child of a fork
    d->next_ = next_;
  }
  simulated_machines.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as in enter_list
}

bool virtual_time::wake_in_domains(std::atomic<std::uint32_t> const& a, bool all) noexcept {
  not_interrupted const me{here()};
  std::lock_guard const guard{changes};
  bool any = false;
  for (domain* d = domains.load(std::memory_order_relaxed); d != nullptr; d = d->next_) {  // relaxed: under the lock
    any = d->wake(a, all) || any;
    if (any && !all) return true;
  }
  return any;
}

// ---- The coarse clock.

std::int64_t coarse_now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

double ticks_per_nanosecond() noexcept {
  reading const& first = first_reading();
  for (;;) {
    reading const now = both();
    if (auto const passed = now.time - first.time; passed >= std::chrono::milliseconds{2}) {
      return static_cast<double>(now.ticks - first.ticks) / std::chrono::duration<double, std::nano>{passed}.count();
    }
  }
}

}  // namespace nopal::core

#include "nopal/core/base/virtual_time.hpp"

#include <mutex>

namespace nopal::inline NOPAL_ABI::core {

namespace {
constinit thread_local virtual_time* of_this_thread = nullptr;
constinit std::mutex changes;  // of the list of domains
}  // namespace

constinit std::atomic<virtual_time::domain*> virtual_time::domains{nullptr};

[[gnu::noinline]] virtual_time* virtual_time::here() noexcept { return of_this_thread; }
void virtual_time::set_here(virtual_time* v) noexcept { of_this_thread = v; }

void virtual_time::domain::enter_list() noexcept {
  not_interrupted const me{here()};
  std::lock_guard const guard{changes};
  next_ = domains.load(std::memory_order_relaxed);  // relaxed: under the lock
  domains.store(this, std::memory_order_seq_cst);
}

void virtual_time::domain::leave_list() noexcept {
  not_interrupted const me{here()};
  std::lock_guard const guard{changes};
  if (domains.load(std::memory_order_relaxed) == this) {  // relaxed: under the lock
    domains.store(next_, std::memory_order_seq_cst);
    return;
  }
  domain* d = domains.load(std::memory_order_relaxed);  // relaxed: under the lock
  while (d->next_ != this) d = d->next_;
  d->next_ = next_;
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

}  // namespace nopal::core

#include "nopal/core/base/process.hpp"

namespace nopal::inline NOPAL_ABI::core {

constinit unsigned process_number = 1;

static constinit std::atomic<fork_hook*> hooks{nullptr};

void call_at_fork(fork_hook& h) noexcept {
  h.next = hooks.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
  // release: pairs with the acquires below. relaxed: as above.
  while (!hooks.compare_exchange_weak(h.next, &h, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void call_fork_hooks_before() noexcept {
  for (fork_hook const* h = hooks.load(std::memory_order_acquire); h != nullptr; h = h->next) h->before();  // acquire: call_at_fork
}

void call_fork_hooks_after(bool in_child) noexcept {
  for (fork_hook const* h = hooks.load(std::memory_order_acquire); h != nullptr; h = h->next) h->after(in_child);  // acquire: as above
}

}  // namespace nopal::core

#include "nopal/promise.hpp"
#include "nopal/when_all.hpp"
#include "nopal/when_any.hpp"

#include <memory>
#include <stdexcept>

#include "nopal/core/base/virtual_time.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/completion.hpp"

namespace nopal::inline NOPAL_ABI::core {

// ---- promise.

void throw_promise_error(std::future_errc e) { throw std::future_error{e}; }

std::exception_ptr broken_promise() noexcept { return std::make_exception_ptr(std::future_error{std::future_errc::broken_promise}); }

// ---- when_all.

// One after the other: the last that ends decides, in any order of the waits.
bool all_set(completion* const* all, std::size_t n, time_point deadline) {
  for (std::size_t k = 0; k < n; ++k) {
    if (deadline == time_point::max()) {
      all[k]->wait();
    } else if (!all[k]->wait_until(deadline)) {
      return false;
    }
  }
  return true;
}

// ---- when_any.

static std::optional<std::size_t> first_that_is_set(completion* const* all, std::size_t n) noexcept {
  in_order();
  for (std::size_t k = 0; k < n; ++k) {
    if (all[k]->is_set()) return k;
  }
  return std::nullopt;
}

std::optional<std::size_t> first_set(completion* const* all, std::size_t n, time_point deadline) {
  if (n == 0) throw std::invalid_argument{"nopal: when_any of no futures would wait for ever; give it at least one"};
  if (auto const k = first_that_is_set(all, n)) return k;
  using node = watch<completion::watched>;
  auto const nodes = std::make_unique<node[]>(n);
  watcher me;
  struct entered {
    completion* const* all;
    node* nodes;
    watcher& me;
    std::size_t n = 0;
    ~entered() {
      std::size_t woken = 0;
      for (std::size_t k = 0; k < n; ++k) woken += all[k]->unwatch(nodes[k]) ? 0 : 1;
      me.absorb(woken);
    }
  };
  {
    entered in{all, nodes.get(), me};
    for (bool waits = true; waits && in.n < n;) {
      waits = all[in.n]->watch(nodes[in.n].begin(me));
      if (waits) ++in.n;
    }
    if (in.n == n) me.wait(deadline, "the first of several futures");
  }
  auto const k = first_that_is_set(all, n);
  if (!k) throw_if_wait_was_stopped();
  return k;
}

}  // namespace nopal::core

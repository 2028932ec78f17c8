#include "nopal/when_any.hpp"

#include <memory>
#include <stdexcept>

#include "nopal/core/base/in_order.hpp"
#include "nopal/core/stop/here.hpp"
#include "nopal/core/wait/watch.hpp"

namespace nopal::inline NOPAL_ABI::core {

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

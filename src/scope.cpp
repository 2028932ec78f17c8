// Children that were forked off a pool, begun on a worker: called by core/stack/outside_children.hpp.

#include "nopal/scope.hpp"

namespace nopal::inline NOPAL_ABI::core {

pool_state& pool_of_list() {
  worker const* const w = current_or_null();
  return w != nullptr ? w->pool() : default_pool_state();
}

// The scope here gets no exception: run() records what a child throws in the scope that forked it.
void begin_all(outside_children& all) noexcept {
  scope s;
  while (outside_child* const c = all.take_newest()) s.fork([c] { c->run(*c); });
}

}  // namespace nopal::core

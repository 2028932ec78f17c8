#include "nopal/core/stack/reverse_order.hpp"

#include <cstdint>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::core {

void left_in_order(worker& w, stack& s) noexcept {
  s.in_order = true;
  s.left_before = w.search.left_in_order;
  w.search.left_in_order = &s;
}

void resumed_in_order(worker& w, stack& s) noexcept {
  stack** at = &w.search.left_in_order;
  while (*at != &s) at = &(*at)->left_before;
  *at = s.left_before;
  s.in_order = false;
  s.turn_awaited_since = 0;
  s.looks_for_turn = 0;
}

void await_turn(stack& s) noexcept { s.turn_awaited_since = std_sync::now(); }

// Does another worker run something? The thread itself is at work where it does not count as a thief.
static bool others_work(worker const& w) noexcept { return w.pool().parking.at_work() > (w.search.searching ? 0U : 1U); }

stack* next_in_order(worker& w) noexcept {
  stack* const newest = w.search.left_in_order;
  if (newest == nullptr) return nullptr;
  if (newest->turn_awaited_since != 0 && !keeps_order(w)) return newest;
  for (stack* s = newest; s != nullptr; s = s->left_before) {
    if (s->turn_awaited_since == 0) continue;
    if (++s->looks_for_turn < tuning::looks_for_turn) continue;
    std::int64_t const awaited = std_sync::now() - s->turn_awaited_since;
    if (awaited > tuning::turn_awaited_while_others_work || (awaited > tuning::turn_awaited && !others_work(w))) return s;
  }
  return nullptr;
}

}  // namespace nopal::core

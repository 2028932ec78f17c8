#include "nopal/core/stack/reverse_order.hpp"

#include <cstdint>

#include "nopal/core/base/sync.hpp"
#include "nopal/core/base/tuning.hpp"

namespace nopal::inline NOPAL_ABI::core {

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
  s.awaits_turn = false;
}

void await_turn(stack& s) noexcept {
  s.awaits_turn = true;
  s.looks_for_turn = 0;
  s.looked_for_turn = std_sync::now();
}

// True if another worker runs something. This thread itself counts as at work unless it counts as a thief.
static bool others_work(worker const& w) noexcept { return w.pool().parking.at_work() > (w.search.searching ? 0U : 1U); }

static bool waits_at_join(waits_for const& why) noexcept { return why.kind == wait_kind::join; }

// Polls after which a stack continues out of its turn. `all_join`: all newer stacks wait at joins.
static std::uint32_t patience(worker const& w, bool all_join) noexcept {
  std::uint32_t const looks = all_join ? tuning::looks_while_newer_join : tuning::looks_for_turn;
  return others_work(w) ? looks * tuning::times_while_others_work : looks;
}

stack* next_in_order(worker& w, waits_for const* here) noexcept {
  stack* const newest = w.search.left_in_order;
  if (newest == nullptr) return nullptr;
  if (newest->awaits_turn && !keeps_order(w)) return newest;
  std::int64_t const now = std_sync::now();
  bool all_join = here == nullptr || !keeps_order(w) || waits_at_join(*here);  // what is newer than s
  for (stack* s = newest; s != nullptr; s = s->left_before) {
    if (!s->awaits_turn) {
      // relaxed: this thread has left the stack, which waits until this thread resumes it
      waits_for const* const why = s->waits.load(std::memory_order_relaxed);
      all_join = all_join && why != nullptr && waits_at_join(*why);
      continue;
    }
    if (now - s->looked_for_turn < tuning::longest_doze) continue;
    s->looked_for_turn = now;
    if (++s->looks_for_turn >= patience(w, all_join)) return s;
  }
  return nullptr;
}

}  // namespace nopal::core

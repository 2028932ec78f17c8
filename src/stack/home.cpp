// What a thread keeps to while its own stack waits.

#include "nopal/core/stack/home.hpp"

#include "nopal/core/base/tuning.hpp"

namespace nopal::core {

// A wait inside nopal::stay that is no join keeps the thread to its own stack, from which nothing descends. In a pool whose stacks all stay
// such a wait leaves the thread as it is: fibers wait for each other there. Where no other worker may run what is waited for, and under a
// controlled schedule, no thread keeps to anything.
void const* stay_home(worker& w, void const* join) noexcept {
  w.here->home = w.index();
  void const* const to = join != nullptr ? join : w.here->stays != 0 ? w.here : nullptr;
  pool_state const& p = w.pool();
  if (to == nullptr || !p.steals || p.size() == 1 || p.control != nullptr) return nullptr;
  w.search.next_doze = tuning::shortest_doze;
  return w.search.keeps_to = to;
}

// What the thread has run meanwhile descends from the join that it kept to, and has ended: then it keeps to what it kept to before. Otherwise
// it was another stack's turn, or a job for this thread alone: what it kept to before may be gone.
void come_home(worker& w, void const* kept_to, void const* keeps_to) noexcept {
  w.here->home = stack::anywhere;
  void const* const now = w.search.keeps_to;
  if (now == nullptr || (keeps_to == nullptr && now == kept_to)) return;
  if (now == keeps_to && kept_to != nullptr) {
    w.search.keeps_to = kept_to;
  } else {
    keep_to_nothing(w);
  }
}

bool doze(worker& w) noexcept {
  pool_state& p = w.pool();
  std::int64_t const pause = w.search.next_doze;
  if (pause < tuning::longest_doze) w.search.next_doze *= 2;
  return p.parking.doze(w.index(), [&] { return p.stopping.load(std::memory_order_seq_cst) || !w.own.empty(); }, pause);
}

}  // namespace nopal::core

#include "nopal/core/scheduler/trim.hpp"

#include <algorithm>
#include <chrono>

#include "nopal/core/architecture/stack_pointer.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/wait/timer.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

void look(void* with) noexcept;

// Asks the timer to look at the pool's memory later, unless it was asked already.
void look_later(pool_state& pool) noexcept {
  // relaxed, here and below: hints.
  if (pool.looks_at_memory.load(std::memory_order_relaxed) || pool.looks_at_memory.exchange(true, std::memory_order_relaxed)) return;
  std::chrono::milliseconds const later{tuning::unused_memory_stays};
  if (!pool.timer.call_after(timer::later::trim, later, look, &pool)) pool.looks_at_memory.store(false, std::memory_order_relaxed);
}

bool lists_hold_much(pool_state const& pool) noexcept {
  return pool.stacklets.spare() > tuning::little_memory || pool.stacks.spare() > tuning::stacks_kept_idle ||
         pool.blocks.spare() > tuning::chains_kept_idle;
}

// True if the buffers of a ring or deque hold much. The bottom says nothing about that, since each pop by the owner lowers it. No system
// call if they are small; all old ones together are smaller than the new one.
template <class Deque>
bool holds_much(Deque const& d) noexcept {
  if (static_cast<std::size_t>(2 * d.capacity()) * sizeof(deque::entry) <= tuning::little_memory) return false;
  std::size_t held = 0;
  d.for_each_buffer([&](auto const& buffer) { held += buffer.resident(tuning::little_memory); });
  return held > tuning::little_memory;
}

// From here until works_again the worker may count as one that holds much. By the worker's owner. `mine`: the stack on which its thread
// sleeps, or the one that an external caller has left.
void note(worker& w, stack* mine) noexcept {
  spare_memory& m = w.spare;
  bool const much = w.arena.spare() > tuning::little_memory || holds_much(w.ready) || holds_much(w.work) ||
                    (mine != nullptr && w.pool().stacks.holds_many_pages(*mine, stack_pointer()));
  // relaxed: hints.
  m.uses.store(m.uses.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  m.much.store(much, std::memory_order_relaxed);
  if (much || lists_hold_much(w.pool())) look_later(w.pool());
}

// By the worker's thread, which searches at the base of `mine`.
void give_back_all(worker& w, stack& mine) noexcept {
  w.stacks.give_back();
  w.arena.put_spare();
  auto const discard = [](auto const& buffer) { buffer.discard(); };
  if (w.ready.empty()) w.ready.for_each_buffer(discard);
  if (w.work.empty()) w.work.for_each_buffer(discard);
  constexpr std::uintptr_t frames_of_this = 16 << 10;  // of the functions that are called here, and more
  auto const* const below = reinterpret_cast<void const*>(stack_pointer() - frames_of_this);  // NOLINT(performance-no-int-to-ptr)
  w.pool().stacks.give_back_below(mine, below);
}

// By the timer's thread. Workers may sleep, run, and be occupied at the same time. What was used since the last look stays until the next.
void look(void* with) noexcept {
  auto& pool = *static_cast<pool_state*>(with);
  pool.looks_at_memory.store(false, std::memory_order_relaxed);  // relaxed: a hint
  bool again = false;
  for (unsigned i = 0; i < pool.size(); ++i) {
    spare_memory& m = pool.workers[i]->spare;
    if (!m.much.load(std::memory_order_relaxed)) continue;  // relaxed: a hint
    again = true;
    if (!pool.parking.is_asleep(i)) continue;  // it was left a moment ago, and is about to be parked
    if (std::uint64_t const uses = m.uses.load(std::memory_order_relaxed); uses != m.uses_before) {  // relaxed: a hint
      m.uses_before = uses;
      continue;
    }
    m.wanted.store(true, std::memory_order_relaxed);  // relaxed: a hint
    pool.parking.notify(i);
  }
  if (pool.stacklets.spare() > tuning::little_memory) pool.stacklets.trim();
  if (pool.blocks.spare() > tuning::chains_kept_idle) again = !pool.blocks.trim() || again;
  pool.stacks.trim(tuning::stacks_kept_idle);
  if (again || pool.stacklets.spare() > tuning::little_memory || pool.stacks.spare() > tuning::stacks_kept_idle) look_later(pool);
}

}  // namespace

void spare_before_sleep(worker& w, stack& mine) noexcept {
  w.stacks.trim(tuning::stacks_kept_asleep);
  if (w.pool().keeps_own_time()) [[unlikely]]
    return;
  if (w.spare.wanted.load(std::memory_order_relaxed)) [[unlikely]] {  // relaxed: a hint
    w.spare.wanted.store(false, std::memory_order_relaxed);
    give_back_all(w, mine);
  }
  note(w, &mine);
}

// Also in a pool where no worker ever sleeps. relaxed: a hint; what is put at the end of the pool is freed with the list.
void note_free_segments(void* with) noexcept {
  auto& pool = *static_cast<pool_state*>(with);
  if (!pool.keeps_own_time() && !pool.stopping.load(std::memory_order_relaxed)) look_later(pool);
}

void note_spare_memory(worker& w) noexcept {
  if (!w.pool().keeps_own_time()) note(w, w.stacks.newest());
}

}  // namespace nopal::core

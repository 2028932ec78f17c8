#include "nopal/core/scheduler/memory.hpp"
#include "nopal/core/scheduler/blocks.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "nopal/core/architecture/instructions.hpp"
#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/stack/stack_pool.hpp"
#include "nopal/core/task/frame.hpp"
#include "nopal/core/wait/timer.hpp"

// glibc's only. Without it small blocks that are freed do not go back to the system.
extern "C" int malloc_trim(std::size_t) __attribute__((weak));

namespace nopal::inline NOPAL_ABI::core {

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

[[noreturn]] void die_of_memory(pool_state const& p, std::uint64_t stacks, std::uint64_t frames, char const* deep, std::uint64_t depth) {
  static constinit std::atomic<bool> said{false};
  // Another thread is about to end the program. relaxed: which thread finds it false is all that matters.
  while (said.exchange(true, std::memory_order_relaxed)) ::pause();
  die_in(
      nullptr,
      "the native stacks of this pool hold %llu MiB and its task frames %llu MiB, and %llu MiB are its limit: %llu %s; if no recursion is "
      "without end, raise pool_options::memory_limit, or NOPAL_MEMORY_LIMIT, in MiB",
      static_cast<unsigned long long>(stacks / mib), static_cast<unsigned long long>(frames / mib),
      static_cast<unsigned long long>(p.memory_limit / mib), static_cast<unsigned long long>(depth), deep);
}

// Number of tasks above the one that is about to begin, up to its job.
std::uint64_t depth_of(std::uintptr_t parent_word) noexcept {
  std::uint64_t n = 0;
  while ((parent_word & kind_mask) != of_job && (parent_word & ~parent_bits) != 0) {
    parent_word = reinterpret_cast<frame const*>(parent_word & ~parent_bits)->parent_word;  // NOLINT(performance-no-int-to-ptr)
    ++n;
  }
  return n;
}

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

// ---- Small blocks.

// Workers may get and put at the same time.
bool central_block_list::trim() noexcept {
  std::array<block*, sizes> all;
  std::size_t n;
  {
    std::lock_guard const guard{mutex_};
    if (std::exchange(taken_before_, taken_) != taken_) return false;
    all = std::exchange(chains_, {});
    n = spare();
    count_.store(0, std::memory_order_relaxed);  // relaxed: it orders nothing
  }
  for (block* chain : all) {
    while (chain != nullptr) free(std::exchange(chain, chain->next_chain));
  }
  freed_ += n;
  if (freed_ >= tuning::chains_worth_a_trim && malloc_trim != nullptr) {
    freed_ = 0;
    malloc_trim(0);
  }
  return true;
}

// ---- How much stacks and frames hold, and what goes back to the system.

// Stacks that exist may grow too: the nearer the limit, the sooner the next check. But at least a quarter more stacks come first. What the
// whole process holds is one question; the stacks are counted page by page only where that is more than the limit.
std::uint64_t check_memory_of_stacks(void* pool) noexcept {
  auto const& p = *static_cast<pool_state const*>(pool);
  std::uint64_t const live = p.stacks.live();
  long const process = read_number("/proc/self/statm", 1);  // resident pages, as the kernel last added them up; not above 0: unknown
  std::uint64_t held = static_cast<std::uint64_t>(process) * page_size();
  if (process <= 0 || held > p.memory_limit) {
    std::uint64_t const stacks = p.stacks.resident_pages() * page_size();
    std::uint64_t const frames = p.stacklets.used();
    held = stacks + frames;
    if (held > p.memory_limit) die_of_memory(p, stacks, frames, "native stacks are in use", live);
  }
  return std::max({tuning::least_stacks_between_looks, live / 4, (p.memory_limit - held) / p.stacks.stack_size()});
}

// Each sync_wait may begin an arena of its own. So all arenas count, however small this one is.
void check_memory_of_frames(fork_state const& here, std::size_t n, std::uintptr_t parent_word) noexcept {
  pool_state const& p = static_cast<worker const&>(here).pool();
  stacklet const* const top = here.arena.segment();
  std::size_t const twice = top == nullptr ? arena::first_size : 2 * top->size;
  std::uint64_t const frames = p.stacklets.used();
  if (frames + (n <= twice ? twice : 0) <= p.memory_limit) return;
  std::uint64_t const stacks = p.stacks.resident_pages() * page_size();
  std::uint64_t const live = p.stacks.live(), depth = depth_of(parent_word);
  if (depth >= live) die_of_memory(p, stacks, frames, "tasks nest in each other", depth);
  die_of_memory(p, stacks, frames, "native stacks are in use", live);
}

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
void note_free_memory(void* with) noexcept {
  auto& pool = *static_cast<pool_state*>(with);
  if (!pool.keeps_own_time() && !pool.stopping.load(std::memory_order_relaxed)) look_later(pool);
}

void note_spare_memory(worker& w) noexcept {
  if (!w.pool().keeps_own_time()) note(w, w.stacks.newest());
}

// Destructors that the loader calls would be too late. If there is no memory to register f, LeakSanitizer may report leaks that are none.
void call_before_leak_check(void (*f)() noexcept) noexcept {
  if (leaks_are_looked_for()) static_cast<void>(std::atexit(f));
}

// Other threads still work for the pool, so what this notes holds for a moment only, as the check itself does. A context that was left is
// in a frame of the stack that it describes; with AddressSanitizer, in other memory, where that stack's frames may be too.
void note_for_leak_check(pool_state const& pool) noexcept {
  if (!leaks_are_looked_for()) return;
  new_stacks_are_leak_roots.store(true, std::memory_order_relaxed);  // relaxed: see there
  pool.stacks.for_each(
      [](stack const& s) { add_leak_root(s.low(), static_cast<std::size_t>(reinterpret_cast<std::byte const*>(&s + 1) - s.low())); });
  for (worker const* w : pool.workers) {
    for (void const* left : {w->began_on_frame, static_cast<void const*>(w->began_on), w->thread_began_on_frame,
                             static_cast<void const*>(w->thread_began_on)}) {
      add_mapping_as_leak_root(left);  // the first two may be a caller's that has left: then nothing is mapped there, or nothing of use
    }
  }
}

}  // namespace nopal::core

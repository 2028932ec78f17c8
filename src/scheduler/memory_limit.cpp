#include "nopal/core/scheduler/memory_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/base/pages.hpp"
#include "nopal/core/base/tuning.hpp"
#include "nopal/core/scheduler/worker.hpp"
#include "nopal/core/task/frame.hpp"

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

}  // namespace

// Stacks that exist may grow too: the nearer the limit, the sooner the next check. But at least a quarter more stacks come first.
std::uint64_t check_memory_of_stacks(void* pool) noexcept {
  auto const& p = *static_cast<pool_state const*>(pool);
  std::uint64_t const live = p.stacks.live();
  std::uint64_t const stacks = p.stacks.resident_pages() * page_size();
  std::uint64_t const frames = p.stacklets.used_at_most();
  if (stacks + frames > p.memory_limit) die_of_memory(p, stacks, frames, "native stacks are in use", live);
  return std::max({tuning::least_stacks_between_looks, live / 4, (p.memory_limit - stacks - frames) / p.stacks.stack_size()});
}

// Each sync_wait may begin an arena of its own. So all arenas count, however small this one is.
void check_memory_of_frames(fork_state const& here, std::size_t n, std::uintptr_t parent_word) noexcept {
  pool_state const& p = static_cast<worker const&>(here).pool();
  stacklet const* const top = here.arena.segment();
  std::size_t const twice = top == nullptr ? arena::first_size : 2 * top->size;
  std::uint64_t const frames = p.stacklets.used_at_most();
  if (frames + (n <= twice ? twice : 0) <= p.memory_limit) return;
  std::uint64_t const stacks = p.stacks.resident_pages() * page_size();
  std::uint64_t const live = p.stacks.live(), depth = depth_of(parent_word);
  if (depth >= live) die_of_memory(p, stacks, frames, "tasks nest in each other", depth);
  die_of_memory(p, stacks, frames, "native stacks are in use", live);
}

}  // namespace nopal::core

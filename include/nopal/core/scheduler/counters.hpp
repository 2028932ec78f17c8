#pragma once

// What each worker counts: one number for each kind of event, in one table with its public name. The thread that works as the worker
// counts. Next: scheduler.hpp, which reads the numbers.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nopal/stats.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What is counted where it happens. (The numbers of native stacks are counted by stack_pool.)
enum class counted : unsigned char {
  steals,
  steal_attempts,
  suspensions,
  serial_forks,
  sleeps,
  wakeups,
  fibers_spawned,
  fibers_finished,
  switches,
  pauses,
  how_many,
};

/// The member of worker_stats for each counter, in the order of `counted`.
inline constexpr std::array<std::uint64_t worker_stats::*, static_cast<std::size_t>(counted::how_many)> public_counters{
    &worker_stats::steals,   &worker_stats::steal_attempts, &worker_stats::suspensions,    &worker_stats::serial_forks,
    &worker_stats::sleeps,   &worker_stats::wakeups,        &worker_stats::fibers_spawned, &worker_stats::fibers_finished,
    &worker_stats::switches, &worker_stats::pauses,
};

/// Written by the thread that works as the worker, one at a time; read by any thread.
class counters {
 public:
  /// Adds one. `o` is release for fibers_finished, which pairs with the reads of wait_for_all; all others are relaxed, since they order
  /// nothing.
  void add(counted what, std::memory_order o = std::memory_order_relaxed) noexcept {
    auto& c = numbers_[static_cast<std::size_t>(what)];
    c.store(c.load(std::memory_order_relaxed) + 1, o);  // relaxed load: one thread writes at a time
  }
  /// The number so far. `o` is relaxed for statistics, and seq_cst in wait_for_all.
  std::uint64_t read(counted what, std::memory_order o = std::memory_order_relaxed) const noexcept {
    return numbers_[static_cast<std::size_t>(what)].load(o);
  }

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(counted::how_many)> numbers_{};
};

}  // namespace nopal::core

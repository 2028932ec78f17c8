#pragma once

// What each worker counts: one number for each thing, in one table with the public name. Next: statistics.hpp, which reads them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nopal/stats.hpp"

namespace nopal::core {

/// What is counted where it happens.
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
  how_many,
};

/// Where each of these is in a worker_stats, in the order of `counted`.
inline constexpr std::array<std::uint64_t worker_stats::*, static_cast<std::size_t>(counted::how_many)> public_counters{
    &worker_stats::steals,  &worker_stats::steal_attempts, &worker_stats::suspensions,     &worker_stats::serial_forks, &worker_stats::sleeps,
    &worker_stats::wakeups, &worker_stats::fibers_spawned, &worker_stats::fibers_finished, &worker_stats::switches,
};

/// Written by whoever works as the worker, one at a time; read by anyone.
class counters {
 public:
  /// `o` is release where a reader that sees the new number must see what came before it.
  void add(counted what, std::memory_order o = std::memory_order_relaxed) noexcept {
    auto& c = numbers_[static_cast<std::size_t>(what)];
    c.store(c.load(std::memory_order_relaxed) + 1, o);  // relaxed: one writer
  }
  /// relaxed: for statistics.
  std::uint64_t read(counted what, std::memory_order o = std::memory_order_relaxed) const noexcept {
    return numbers_[static_cast<std::size_t>(what)].load(o);
  }

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(counted::how_many)> numbers_{};
};

}  // namespace nopal::core

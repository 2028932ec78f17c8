#pragma once

#include "nopal/core/compiler/config.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace nopal {

/// What a worker does when it finds nothing.
enum class idle {
  lazy,  ///< sleeps; while a job has forked, or some job or fiber waits for a worker, one worker per NUMA node keeps looking
  busy,  ///< keeps looking: the lowest latency, at the price of the CPU
};

/// What happens to the unused pages of a suspended native stack.
enum class reclaim { dontneed, free, remap, none };

/// Who runs when, and who steals what.
enum class schedule {
  free,             ///< as the machine has it
  steal_always,     ///< for tests: one worker runs at a time, and what is forked is stolen at once wherever another worker is idle
  steal_never,      ///< the same, but nothing is stolen at a fork
  steal_at_random,  ///< the same, as `seed` decides: the same seed gives the same run, unless that depends on time or on other threads
};

struct pool_options {
  /// 0: as many as the CPUs this process may really use, by affinity mask and cgroup quota. (Of default_pool(): what the environment
  /// variable NOPAL_WORKERS says, from 1 to 16384, or this where it is unset, empty or 0.)
  unsigned workers = 0;
  nopal::idle idle = nopal::idle::lazy;
  /// Each worker's thread on one CPU. Unset: when the pool has the machine's CPUs to itself. `true` with more workers than CPUs throws.
  /// `false` answers jobs of some 20 us sooner that come after a rest, as the system may wake a worker where that is cheap, beside the caller;
  /// longer ones run in parallel sooner when pinned.
  std::optional<bool> pin = {};
  /// Bytes of virtual memory for each native stack: 64 KiB to 1 TiB.
  std::size_t stack_size = std::size_t{1} << 20;
  nopal::reclaim reclaim = nopal::reclaim::dontneed;
  /// False: every task stays on the worker where it began, for experiments.
  bool steal = true;
  /// Decides the order in which workers look at each other.
  std::uint64_t seed = 0;
  /// Where it is `free`, the environment variable NOPAL_SCHEDULE may say otherwise: always, never, random, or random:SEED;
  /// anything else throws std::invalid_argument.
  nopal::schedule schedule = nopal::schedule::free;
  /// What the pool's threads are called: name:0, name:1, … and name:timer, as top, gdb and perf show them, and what its reports say. The
  /// system keeps 15 characters of a thread's name: a longer one loses the end of `name`, never what follows it. Empty: they keep the name
  /// of the thread that made them. A control character in it throws.
  std::string name = "nopal";
};

}  // namespace nopal

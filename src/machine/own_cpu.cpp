#include "nopal/core/machine/own_cpu.hpp"

#include <pthread.h>

#include <cerrno>

namespace nopal::inline NOPAL_ABI::core {

namespace {

bool holds(cpu_mask const& m, int cpu) noexcept { return CPU_ISSET_S(static_cast<std::size_t>(cpu), cpu_mask::bytes, m.sets.data()); }
bool equal(cpu_mask const& a, cpu_mask const& b) noexcept { return CPU_EQUAL_S(cpu_mask::bytes, a.sets.data(), b.sets.data()); }

int read_mask(cpu_mask& m) noexcept { return ::sched_getaffinity(0, cpu_mask::bytes, m.sets.data()) == 0 ? 0 : errno; }
// Restoring a mask fails only if a cpuset has lost all of its CPUs since: then the kernel has chosen others already.
int set_mask(cpu_mask const& m) noexcept { return ::sched_setaffinity(0, cpu_mask::bytes, m.sets.data()) == 0 ? 0 : errno; }

void add(cpu_mask& m, int cpu) noexcept { CPU_SET_S(static_cast<std::size_t>(cpu), cpu_mask::bytes, m.sets.data()); }

/// The mask of the calling thread, and that of `cpu` alone. Returns 0, or an error number.
int read_masks(int cpu, cpu_mask& now, cpu_mask& one) noexcept {
  if (int const error = read_mask(now); error != 0) return error;
  if (!holds(now, cpu)) return EINVAL;
  add(one, cpu);
  return 0;
}

}  // namespace

int move_to_cpu(int cpu) noexcept {
  cpu_mask before, one;
  int error = read_masks(cpu, before, one);
  // Not by set_mask: this is the call that tests/faults counts, one for each worker.
  if (error == 0) error = ::pthread_setaffinity_np(::pthread_self(), cpu_mask::bytes, one.sets.data());
  if (error == 0) set_mask(before);
  return error;
}

void keep_to_cpus(std::vector<int> const& cpus) noexcept {
  cpu_mask these;
  for (int const cpu : cpus) add(these, cpu);
  if (!cpus.empty()) set_mask(these);
}

bound_to_cpu::bound_to_cpu(int cpu) noexcept : bound_{read_masks(cpu, before_, one_) == 0 && set_mask(one_) == 0} {}

bound_to_cpu::~bound_to_cpu() {
  cpu_mask now;
  if (bound_ && read_mask(now) == 0 && equal(now, one_)) set_mask(before_);
}

}  // namespace nopal::core

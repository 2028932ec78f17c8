#pragma once

// How many mappings the process may have. The kernel allows vm.max_map_count; once they are used up, malloc, new threads and dlopen fail
// too. So native stacks leave some of them to the program. Any thread may call; there is one count for all pools. Next: stack_region.hpp,
// which asks; refusal.hpp, which says why there is no stack.

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// True if `n` more mappings may be made for stacks; they count as made then. Usually one atomic operation. Each time half of what is left
/// was used up, it counts the lines of /proc/self/maps, under a mutex. False: fewer than mappings_left() would be left.
bool may_map(long n) noexcept;
/// `n` of them were not made, or were unmapped.
void unmapped(long n) noexcept;

/// The number of mappings that the process has and may have; 0: unknown.
struct mapping_counts {
  long have;
  long most;
};
/// Counts them. Takes some milliseconds if there are many.
mapping_counts count_mappings() noexcept;
/// The number of mappings that stay for the program if `most` are allowed.
long mappings_left(long most) noexcept;

/// The thread that forks holds the lock during the fork: scheduler/process.cpp.
void hold_mapping_count() noexcept;
void release_mapping_count() noexcept;

/// The number with which the file at `path` begins, after `skip` other numbers; -1 if there is none.
long read_number(char const* path, int skip = 0) noexcept;

}  // namespace nopal::core

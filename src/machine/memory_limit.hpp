#pragma once

// How much memory this process may use. For scheduler.cpp, when a pool is made.

#include <cstddef>
#include <cstdint>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The limit of a pool in bytes. `asked`: pool_options::memory_limit. 0: NOPAL_MEMORY_LIMIT, in MiB; if that is unset, empty or 0, half of
/// what the process may use. Throws std::invalid_argument for any other value of it, std::bad_alloc.
std::uint64_t choose_memory_limit(std::size_t asked);

/// The least of the machine's memory, that of the process's cgroups, RLIMIT_AS and RLIMIT_DATA, in bytes. Throws std::bad_alloc.
std::uint64_t usable_memory();

}  // namespace nopal::core

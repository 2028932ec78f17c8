#pragma once

// Checks of pool_options, and of what the environment says in their place, before anything of a pool is made. Called by scheduler.cpp. Each
// throws with the value, the limit and the remedy.

#include <chrono>
#include <cstddef>
#include <string>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Throws std::invalid_argument: "nopal::pool: " and `what`.
[[noreturn]] void reject(std::string const& what);
void check_stack_size(std::size_t n);
void check_keep_warm(std::chrono::nanoseconds t);
void check_blocking_threads(unsigned n);
void check_name(std::string const& name);
/// For a pool of so many threads that the system might refuse some: finds that out before any is made, since making and ending ten thousand
/// takes seconds. A smaller pool fails fast without it, and does not read the limits. Throws std::system_error.
void check_thread_limits(unsigned workers);

/// The value of the environment variable, from 0 to `most`; 0 if it is unset or empty. `meaning` and `remedy` are for the message.
unsigned number_in(char const* variable, unsigned most, char const* meaning, char const* remedy);
/// NOPAL_WORKERS, for pools whose options do not set the number of workers; 0 if it is unset too.
unsigned workers_in_environment();

}  // namespace nopal::core

#pragma once

// What waits for what in a pool, in words. Called by pool::report, and in builds with assertions by src/report/report.cpp, on any thread.
// Why it may read the stacks of other threads: README.md. Next: ../wait/deadline.hpp, how a waiter describes itself;
// src/report/place.hpp, the names of functions.

#include <string>
#include <string_view>

#include "nopal/core/compiler/abi.h"
#include "nopal/core/compiler/config.hpp"
#include "nopal/core/scheduler/pool_state.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// What pool::report returns: a paragraph for each native stack of `pool` that waits, for each task that waits without one, but at its join,
/// for each thread that works for no pool and waits, and a line for each deadlock of mutexes. Any thread; stops no other. Throws
/// std::bad_alloc. O(stacks + tasks + code), with two system calls for each stack that waits, and one for each task that waits for a mutex.
NOPAL_API std::string report(pool_state const& pool);

// NOPAL_REPORT: a signal that prints the reports of all pools, while the program runs on. Called by scheduler/scheduler.cpp, for the first
// pool, around forks and for each pool. Reasons: README.md, "On a signal".

/// Parses a signal: a name, with or without SIG, RTMIN+3, RTMAX-1, or a number. Throws std::invalid_argument, with the text and what to
/// write instead, if it is not a signal that a program may use for this.
int report_signal(std::string_view text);

/// Installs a handler for the signal in the environment variable NOPAL_REPORT, if it is set, once in a process. By every thread that makes
/// a pool. Throws std::invalid_argument as report_signal, std::system_error if there is no file descriptor or thread for it.
void begin_reports_on_signal();

// Around a fork, by the thread that forks: no thread calls begin_reports_on_signal in between. In the child the handler writes to no file.
void before_fork_of_reports() noexcept;
void after_fork_of_reports(bool in_child) noexcept;

// Warns of a pool in which nothing can run any more, in builds with assertions. Called by the search for work.

/// Prints a report on stderr if nothing can run in `pool` now, and still cannot after tuning::stuck_after. By a worker that is about to
/// sleep. Without assertions it does nothing.
void watch_for_stuck_pool(pool_state& pool) noexcept;

}  // namespace nopal::core

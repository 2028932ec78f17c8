#pragma once

// NOPAL_REPORT: a signal on which the reports of all pools are printed, while the program runs on. Called by scheduler/process.cpp, which
// knows of the first pool and of forks. Why it is done so: include/nopal/core/report/README.md, "On a signal". Next: report.hpp.

#include <string_view>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The signal that the text says: a name, with or without SIG, RTMIN+3, RTMAX-1, or a number. Throws std::invalid_argument, with the text
/// and what to write instead, where that is no signal, or none that a program may take for this.
int report_signal(std::string_view text);

/// Takes the signal that the environment variable NOPAL_REPORT says, once in a process, if it says any. By every thread that makes a pool.
/// Throws std::invalid_argument as report_signal, std::system_error where there is no file descriptor or thread for it.
void begin_reports_on_signal();

// Around a fork, by the thread that forks: no other begins meanwhile. In the child nobody reads what the handler writes.
void before_fork_of_reports() noexcept;
void after_fork_of_reports(bool in_child) noexcept;

}  // namespace nopal::core

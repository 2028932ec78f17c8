#pragma once

// NOPAL_REPORT: a signal that prints the reports of all pools, while the program runs on. Called by scheduler/process.cpp, for the first
// pool and around forks, and by scheduler/scheduler.cpp. Reasons: include/nopal/core/report/README.md, "On a signal". Next: report.hpp.

#include <string_view>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Parses a signal: a name, with or without SIG, RTMIN+3, RTMAX-1, or a number. Throws std::invalid_argument, with the text and what to
/// write instead, if it is not a signal that a program may use for this.
int report_signal(std::string_view text);

/// Installs a handler for the signal in the environment variable NOPAL_REPORT, if it is set, once in a process. By every thread that makes
/// a pool. Throws std::invalid_argument as report_signal, std::system_error if there is no file descriptor or thread for it.
void begin_reports_on_signal();

// Around a fork, by the thread that forks: no thread calls begin_reports_on_signal in between. In the child the handler writes to no file.
void before_fork_of_reports() noexcept;
void after_fork_of_reports(bool in_child) noexcept;

}  // namespace nopal::core

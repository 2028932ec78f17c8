#pragma once

// A program's numbers on its own process.

#include <string>

namespace bench {

// The compiler of this program.
[[nodiscard]] std::string compiler();

// The most memory that the process has had resident since it began, or since forget_peak().
[[nodiscard]] long peak_rss_kib();
[[nodiscard]] long rss_kib();
void forget_peak();

// Page faults of the whole process that needed no input.
[[nodiscard]] long minor_page_faults();

}  // namespace bench

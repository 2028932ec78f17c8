#pragma once

// What every program tells of its own process.

#include <string>

namespace bench {

// What compiled this program.
[[nodiscard]] std::string compiler();

// The most memory that the process has had resident so far.
[[nodiscard]] long peak_rss_kib();

}  // namespace bench

#pragma once

// Formats numbers and names for a profile. texts.cpp also has the report's table and JSON.

#include <string>

#include "nopal/profile_report.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// As printf; at most 511 bytes. Throws std::bad_alloc.
[[gnu::format(printf, 1, 2)]] std::string printed(char const* format, ...);
/// An amount of work: "1.250 ms", or a number of calls. Throws std::bad_alloc.
std::string amount_in_words(profile_unit unit, double amount);
/// As a string of JSON. Throws std::bad_alloc.
std::string quoted(std::string const& text);

}  // namespace nopal::core

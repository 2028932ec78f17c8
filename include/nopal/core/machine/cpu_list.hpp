#pragma once

// Lists of CPUs and of NUMA nodes as Linux writes them: "0-3,8,10-11". For cpus.cpp and linux_topology.cpp, on any thread. Next: cpus.hpp.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// Calls take(first, last) with each range of `list`, as long as it returns true. Returns false if it returned false, or if `list` is empty
/// or garbled. A range may be of any length: never count through one that was not compared with a bound.
template <class F>
bool for_each_range(std::string_view list, F&& take) {
  while (!list.empty() && (list.back() == '\n' || list.back() == ' ')) list.remove_suffix(1);
  auto const to_number = [](std::string_view text, std::int64_t& value) {
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value >= 0;
  };
  for (;;) {
    auto const comma = std::min(list.find(','), list.size());
    auto const range = list.substr(0, comma);
    auto const dash = range.find('-');
    std::int64_t first = 0;
    if (!to_number(range.substr(0, dash), first)) return false;
    std::int64_t last = first;
    if (dash != range.npos && !to_number(range.substr(dash + 1), last)) return false;
    if (last < first || !take(first, last)) return false;
    if (comma == list.size()) return true;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace nopal::core

#pragma once

// Words and numbers in a text, as in an environment variable. For controlled_schedule.cpp, costs.cpp, topology.cpp, cpus.cpp and
// report_on_signal.cpp.

#include <charconv>
#include <string_view>
#include <system_error>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// The text before the next `c`, which is removed from `text` together with it; all of it, if there is no `c`.
inline std::string_view take_until(std::string_view& text, char c) noexcept {
  std::size_t const end = text.find(c);
  std::string_view const part = text.substr(0, end);
  text = end == text.npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

/// True if the whole text is a number that T can hold: stored in `n`. False: `n` is unchanged.
template <class T>
bool read_all(std::string_view text, T& n) noexcept {
  T read{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  n = read;
  return true;
}

}  // namespace nopal::core

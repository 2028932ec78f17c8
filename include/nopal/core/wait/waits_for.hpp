#pragma once

// What is waited for, in the words of reports. It lies in the waiting frame, where reports copy it from while the waiter may be resumed.

#include <cstdint>
#include <limits>

namespace nopal::core {

/// What a report can say of an object that is waited for, beyond its address.
enum class wait_kind : unsigned char { nothing_more, mutex, counter };

/// What a report says of a stack that waits.
struct waits_for {
  char const* what;
  void const* object;
  wait_kind kind = wait_kind::nothing_more;
  std::int64_t target = 0;  ///< of a counter
  std::int64_t limit = no_limit;  ///< by the steady clock, in nanoseconds
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
};

}  // namespace nopal::core

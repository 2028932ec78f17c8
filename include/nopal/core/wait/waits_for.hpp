#pragma once

// What a waiter waits for, in the words of reports. It is in the waiting frame. A report copies it from there and notices if the waiter was
// resumed during the copy: ../report/README.md. Next: await_wake.hpp, which takes one; src/report/report.cpp, which prints it.

#include <cstdint>
#include <limits>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// join: the waiter began what it waits for, which ends by itself. mutex, counter: a report can say more of the object than its address.
enum class wait_kind : unsigned char { nothing_more, join, mutex, counter };

struct waits_for {
  char const* what;    ///< completes the sentence "it waits for ..."
  void const* object;  ///< or null
  wait_kind kind = wait_kind::nothing_more;
  std::int64_t target = 0;        ///< the value that a counter is to reach
  std::int64_t limit = no_limit;  ///< the deadline by the steady clock, in nanoseconds
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
};

/// What a report says of a task that waits without a native stack: ../task/listed_tasks.hpp. In the task's frame.
struct listed_task {
  waits_for const why;
  void const* task = nullptr;      ///< its frame: the owner of the mutexes that it has locked
  void const* function = nullptr;  ///< what resumes it
  std::int64_t since = 0;          ///< by the coarse clock

  listed_task* next = nullptr;  ///< this and `before` under the list's lock
  listed_task* before = nullptr;
};

}  // namespace nopal::core

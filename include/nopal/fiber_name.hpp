#pragma once

// fiber_name: the name of a fiber, or a function, in the reports of its pool. Costs nothing if it is not used. Next: core/stack/stack.hpp,
// where the name is kept; core/report/report.hpp, which shows it.

#include "nopal/core/compiler/config.hpp"

#include <string_view>

#include "nopal/core/stack/stack.hpp"

namespace nopal::inline NOPAL_ABI {

/// While it lives, pool::report(), and the message with which nopal ends a program, call what runs on the caller's native stack by this
/// name.
///
///     nopal::spawn([&] { nopal::fiber_name const me{"loader"}; load(); });
///
/// Of a longer name the first 31 characters are shown; control characters are shown as ?. Names on one stack must end in reverse order, as
/// they do in a function. On a thread that works for no pool it does nothing: threads have names of their own. In a task it must end before
/// the next co_await, after which the task may be on another stack. If a name ends on another stack or in another order, the program ends
/// with a message. Throws nothing. O(1).
class NOPAL_API fiber_name {
 public:
  /// Copies `name`.
  explicit fiber_name(std::string_view name) noexcept;
  fiber_name(fiber_name const&) = delete;
  fiber_name& operator=(fiber_name const&) = delete;
  ~fiber_name();

 private:
  core::stack_name name_;
  core::stack* of_;
};

}  // namespace nopal

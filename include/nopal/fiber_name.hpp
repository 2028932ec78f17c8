#pragma once

// fiber_name: what a fiber, or a function, is called in the reports of its pool. Costs nothing where it is not used. Next: core/stack/stack.hpp,
// where the name is kept; core/report/report.hpp, which shows it.

#include "nopal/core/compiler/config.hpp"

#include <string_view>

#include "nopal/core/stack/stack.hpp"

namespace nopal::inline NOPAL_ABI {

/// While it lives, whatever runs on the caller's native stack is called so in pool::report(), and in the message with which nopal ends a
/// program.
///
///     nopal::spawn([&] { nopal::fiber_name const me{"loader"}; load(); });
///
/// Of a longer name the first 31 characters are shown; control characters are shown as ?. Names on one stack must end in reverse order, as
/// they do in a function. On a thread that works for no pool it does nothing: threads have names of their own. In a task it must end before
/// the next co_await, after which the task may be on another stack. Where a name ends on another stack or in another order, the program
/// ends with a message. Throws nothing. O(1).
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

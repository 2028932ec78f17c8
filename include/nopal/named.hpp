#pragma once

// named: what a fiber, or a function, is called in the reports of its pool. Costs nothing where it is not used.

#include "nopal/core/compiler/config.hpp"

#include <string_view>

#include "nopal/core/stack/stack.hpp"

namespace nopal {

/// While alive, whatever runs on the caller's native stack is called so in pool::report() and in the library's last words.
///
///     nopal::spawn([&] { nopal::named const me{"loader"}; load(); });
///
/// Of a longer name the first 31 characters; control characters are shown as ?. Nested ones end in reverse order, as they do in a function.
/// Off a pool it does nothing: threads have names of their own. In a task it must end before the next co_await, after which the task may be on
/// another stack: otherwise it ends the program with a message. It throws nothing. O(1).
class NOPAL_API named {
 public:
  explicit named(std::string_view name) noexcept;
  named(named const&) = delete;
  named& operator=(named const&) = delete;
  ~named();

 private:
  core::stack_name name_;
  core::stack* of_;
};

}  // namespace nopal

#pragma once

// A strand that ends on a native stack has unlocked what it locked there. A mutex belongs to the stack on which it was locked: if it were
// left locked, it would belong to what runs on that stack next. Next: ../../mutex.hpp, which counts; ../scheduler/fiber_record.hpp and
// ../task/resume_loop.hpp, which check.

#include "nopal/core/compiler/config.hpp"
#include "nopal/core/stack/stack.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// The number of mutexes that belonged to a native stack when something began there.
class held_mutexes {
 public:
  explicit held_mutexes(stack const& here) noexcept : before_{here.mutexes} {}
  /// `what` has ended on that stack, on which the caller runs. Ends the program if more mutexes belong to the stack than before.
  void check(stack const& here, char const* what) const noexcept {
    if (here.mutexes != before_) [[unlikely]]
      die_owning(here, what);
  }

 private:
  NOPAL_API [[noreturn]] NOPAL_COLD void die_owning(stack const& here, char const* what) const noexcept;
  unsigned before_;
};

}  // namespace nopal::core

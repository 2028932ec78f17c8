#pragma once

// What starts a child, in a task that is measured: the callable, and what the child's path begins with. Called by
// core/task/child.hpp, which keeps it in the child_awaitable. Next: task_profile.hpp, who notes it.

#include "nopal/core/compiler/config.hpp"

#include <utility>

#include "nopal/profile/procedure.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// F: a pointer to the callable. To dereference this is the last thing that happens before the child's function is called.
template <class F>
class noted {
 public:
  explicit noted(F f) noexcept : f_{f} {}
  void note(procedure_start s) noexcept { start_ = std::move(s); }
  decltype(auto) operator*() const noexcept {
    measured_here() = {nullptr, &start_};
    return *f_;
  }

 private:
  F f_;
  procedure_start start_;
};
template <class F>
using starter = noted<F>;

}  // namespace nopal::core

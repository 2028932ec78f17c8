#pragma once

// What starts a child of a measured task: the callable, and what the child's path begins with. Used by core/task/child.hpp, which
// keeps it in the child_awaitable. Next: task_profile.hpp, which calls `note`.

#include "nopal/core/compiler/config.hpp"

#include <utility>

#include "nopal/profile/procedure.hpp"

namespace nopal::inline NOPAL_ABI::core {

/// F: a pointer to the callable. It is dereferenced last, directly before the call of the child's function.
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

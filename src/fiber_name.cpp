// Names of what runs on native stacks: written by the stack's own code, read by reports.

#include "nopal/fiber_name.hpp"

#include <algorithm>
#include <cstddef>

#include "nopal/core/base/fatal.hpp"
#include "nopal/core/task/fork_state.hpp"

namespace nopal::inline NOPAL_ABI {

fiber_name::fiber_name(std::string_view name) noexcept : name_{}, of_{core::state_here()->here} {
  if (of_ == nullptr) return;
  name = name.substr(0, core::stack_name::most);
  std::transform(name.begin(), name.end(), name_.text, [](char c) {
    auto const code = static_cast<unsigned char>(c);
    return code < 0x20 || code == 0x7f ? '?' : c;
  });
  name_.outer = of_->name.load(std::memory_order_relaxed);  // relaxed: only code on this stack writes it
  of_->name.store(&name_, std::memory_order_release);       // release: pairs with the acquire of name_of in report.cpp, for the text
}

fiber_name::~fiber_name() {
  if (of_ == nullptr) return;
  // relaxed, here and below: only code on this stack writes it. A report that reads the old name copies it by peek, and then reads it
  // again.
  if (core::state_here()->here != of_ || of_->name.load(std::memory_order_relaxed) != &name_) {
    core::die(
        "a nopal::fiber_name ended on another native stack than its own, in a task after a co_await, or not in reverse order; "
        "let each end before the next co_await, and the inner ones before the outer ones");
  }
  of_->name.store(name_.outer, std::memory_order_relaxed);
}

}  // namespace nopal
